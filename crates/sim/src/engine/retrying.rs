//! [`Retrying`]: requests that are sent again when they are rejected.

use rand::Rng;
use rand_distr::{Distribution, Exp1};

use super::later::Later;
use super::request::Request;
use super::source::{Fate, Open, Source};
use crate::draw::Random;
use crate::model::Retries;

/// Open arrivals of which some come back after a rejection. Latency counts from the first attempt.
#[derive(Debug, Clone)]
pub(crate) struct Retrying<R> {
    first: Open,
    again: Later<R>,
    retries: Retries,
    random: Random,
}

impl<R: Request> Retrying<R> {
    pub(crate) fn new(first: Open, retries: Retries, random: Random) -> Self {
        Self { first, again: Later::default(), retries, random }
    }

    fn next_first(&self) -> f64 {
        Source::<R>::next(&self.first)
    }
}

impl<R: Request> Source<R> for Retrying<R> {
    fn next(&self) -> f64 {
        self.next_first().min(self.again.next())
    }

    fn take(&mut self) -> R {
        if self.again.next() <= self.next_first()
            && let Some((_, request)) = self.again.take()
        {
            return request;
        }
        self.first.take()
    }

    fn learn(&mut self, now: f64, request: &R, fate: Fate) -> bool {
        // Whose it is, of an open source, is how often it has come back.
        let times = request.job().whose;
        let back = fate == Fate::Rejected
            && times < self.retries.most
            && self.random.random::<f64>() < self.retries.share;
        if back {
            let unit: f64 = Exp1.sample(&mut self.random);
            self.again.add(now + unit * self.retries.delay, request.of(times + 1));
        }
        back
    }
}
