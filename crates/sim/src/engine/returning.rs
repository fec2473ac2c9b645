//! [`Returning`]: requests whose clients give up, or are rejected, and come again.

use rand::Rng;
use rand_distr::{Distribution, Exp1};
use slab::Slab;

use super::later::Later;
use super::request::Request;
use super::source::{Answer, Open, Source};
use crate::draw::{Demands, Random};
use crate::model::{Model, Retries};

/// Open arrivals of clients that wait for so long, and of which some come back. Latency counts from the first attempt.
///
/// When a client gives up is known when its request comes, and so is when it comes back for that. So there is nothing
/// that happens when it gives up: that it comes back is withdrawn where the answer is there before.
#[derive(Debug, Clone)]
pub(crate) struct Returning<R> {
    first: Open,
    again: Later<Return<R>>,
    attempts: Slab<Attempt>,
    patience: Option<(f64, Demands)>,
    /// How much later than it is given an answer is there, in seconds.
    network: f64,
    retries: Retries,
    /// Who is rejected is told so.
    tells: bool,
    /// Means and laws of what classes need, in their order.
    demands: Box<[(f64, Demands)]>,
    random: Random,
}

/// A request, as long as it is in the server, or to come back.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    /// How often it has come back before.
    times: u32,
    /// Until when its client waits.
    until: f64,
    /// Whether he comes back if it comes to nothing.
    comes_back: bool,
    is_in_server: bool,
    /// In [`Returning::again`].
    is_to_return: bool,
    /// It need not be.
    is_withdrawn: bool,
}

/// A request that is to come back.
#[derive(Debug, Clone, Copy)]
struct Return<R> {
    attempt: usize,
    request: R,
}

impl<R: Request> Returning<R> {
    pub(crate) fn new(first: Open, model: &Model, random: Random) -> Self {
        let patience = model.patience.map(|patience| (patience.mean, Demands::of(patience.law)));
        let retries = model.retries.unwrap_or(Retries::NONE);
        let (again, attempts, tells) = (Later::default(), Slab::new(), !model.drops);
        let demands = model.classes.iter().map(|class| (class.demand, model.demands_of(class)));
        Self {
            first,
            again,
            attempts,
            patience,
            network: model.network,
            retries,
            tells,
            demands: demands.collect(),
            random,
        }
    }

    fn next_first(&self) -> f64 {
        Source::<R>::next(&self.first)
    }

    /// A request comes back so long after it came to nothing.
    fn pause(&mut self, times: u32) -> f64 {
        let unit: f64 = Exp1.sample(&mut self.random);
        unit * self.retries.delay * self.retries.backoff.powi(times.min(1000) as i32)
    }

    /// The request that comes now: the first attempt, or how often it has been there.
    fn come(&mut self) -> (f64, R, u32) {
        let (at, back) = (self.again.next(), self.again.next() <= self.next_first());
        let returned = if back { self.again.take() } else { None };
        let Some((_, Return { attempt, request })) = returned else {
            return (self.next_first(), self.first.take(), 0);
        };
        let times = self.attempts.get(attempt).map_or(0, |attempt| attempt.times + 1);
        self.leave(attempt, |attempt| attempt.is_to_return = false);
        self.withdraw();
        let job = request.job();
        let request = match self.demands.get(job.class as usize) {
            Some((mean, law)) if self.retries.anew => {
                let demand = mean * law.sample(&mut self.random);
                request.anew(demand, &mut self.random)
            }
            _ => request,
        };
        (at, request, times)
    }

    /// Something of an attempt is over; it is forgotten when all of it is.
    fn leave(&mut self, key: usize, over: impl FnOnce(&mut Attempt)) {
        let Some(attempt) = self.attempts.get_mut(key) else { return };
        over(attempt);
        if !attempt.is_in_server && !attempt.is_to_return {
            self.attempts.remove(key);
        }
    }

    /// The first that is to come back is one that does.
    fn withdraw(&mut self) {
        while let Some(first) = self.again.first()
            && self.attempts.get(first.attempt).is_none_or(|attempt| attempt.is_withdrawn)
        {
            let attempt = first.attempt;
            self.again.take();
            self.leave(attempt, |attempt| attempt.is_to_return = false);
        }
    }
}

impl<R: Request> Source<R> for Returning<R> {
    fn next(&self) -> f64 {
        self.next_first().min(self.again.next())
    }

    fn take(&mut self) -> R {
        let (now, request, times) = self.come();
        let comes_back = times < self.retries.most && self.random.random::<f64>() < self.retries.share;
        let until = match &self.patience {
            Some((mean, law)) => now + mean * law.sample(&mut self.random),
            None => f64::INFINITY,
        };
        let is_to_return = comes_back && until.is_finite();
        let attempt =
            Attempt { times, until, comes_back, is_in_server: true, is_to_return, is_withdrawn: false };
        let attempt = self.attempts.insert(attempt);
        if is_to_return {
            let at = until + self.pause(times);
            self.again.add(at, Return { attempt, request });
        }
        request.of(attempt as u32)
    }

    fn is_new(&self, request: &R) -> bool {
        self.attempts.get(request.job().whose as usize).is_none_or(|attempt| attempt.times == 0)
    }

    fn answered(&mut self, now: f64, request: &R) -> Answer {
        let key = request.job().whose as usize;
        let Some(&Attempt { until, comes_back, .. }) = self.attempts.get(key) else { return Answer::Wanted };
        let is_wanted = now + self.network <= until;
        self.leave(key, |attempt| (attempt.is_in_server, attempt.is_withdrawn) = (false, is_wanted));
        if is_wanted {
            self.withdraw();
            Answer::Wanted
        } else {
            Answer::TooLate { is_lost: !comes_back }
        }
    }

    fn rejected(&mut self, now: f64, request: &R) -> bool {
        let key = request.job().whose as usize;
        let Some(&attempt) = self.attempts.get(key) else { return false };
        let tells = self.tells;
        self.leave(key, |attempt| (attempt.is_in_server, attempt.is_withdrawn) = (false, tells));
        if attempt.comes_back && tells {
            let to_return = Attempt { is_in_server: false, is_to_return: true, ..attempt };
            let at = now + self.network + self.pause(attempt.times);
            let attempt = self.attempts.insert(to_return);
            self.again.add(at, Return { attempt, request: *request });
        }
        self.withdraw();
        attempt.comes_back
    }
}
