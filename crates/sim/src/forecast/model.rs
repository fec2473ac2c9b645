//! The simulation of a load that was seen, behind a gate.

use std::sync::Arc;

use policy::{Config, Mode, SessionLimits, Window};
use rand_distr::{Distribution as _, Poisson};
use traffic::{Process, Ramp};
use units::{Rate, Span, Time};

use super::demand::Server;
use super::error::ForecastError;
use super::habits::Habits;
use super::patience::patience;
use super::quantile::quantile;
use super::request::{Fate, Request};
use super::sessions::{Sessions, State};
use crate::draw::{Random, Role, Seed, Service};
use crate::sessions::{Gate, Host, Script, SessionModel, WayPage};

/// The gate, as it decided about the requests that were seen.
#[derive(Debug, Clone)]
pub struct Front {
    /// The names of its classes, most important first.
    pub classes: Vec<String>,
    /// What its policy is told.
    pub policy: Config,
    /// How long session tokens hold.
    pub limits: SessionLimits,
    /// How long refused users are asked to stay away at most.
    pub longest_retry_after: Span,
    /// Since when it has been as it is.
    pub steady_since: Time,
}

/// What the load is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// For how long it was seen, in seconds.
    pub seconds: f64,
    /// Requests that were seen.
    pub requests: u64,
    /// Sessions that were seen.
    pub sessions: u64,
    /// By class.
    pub classes: Vec<ClassLoad>,
}

/// The load of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassLoad {
    /// Its name.
    pub name: String,
    /// Sessions that begin per second, or would.
    pub starts: f64,
    /// Requests of a completed session, mean.
    pub requests: f64,
    /// Between an answer and the next request, mean, in seconds.
    pub pause: f64,
}

/// The requests that ended in some time, since when, and until when.
pub(super) type Told<'a> = (&'a [Request], Time, Time);

/// All that was seen.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    front: &'a Front,
    sessions: Sessions,
    server: Server,
    seconds: f64,
    requests: u64,
    /// How long users wait for an answer before they leave, if some have left.
    pub(super) patience: Option<Span>,
}

/// Users who wait for ever are taken to wait so long.
const FOR_EVER: Span = Span::from_secs(3600);
/// Browsers fetch as much at a time.
const CONNECTIONS: usize = 6;
/// So many ways are made up for each class, or as many as have so many pages.
const WAYS: usize = 400;
const PAGES: usize = 20_000;

impl<'a> Seen<'a> {
    /// Of less, nothing is said.
    const LEAST_SECONDS: f64 = 15.0;
    const LEAST_SESSIONS: usize = 50;
    /// As long as users pause it is not known who has left.
    const LEAST_COMPLETED: usize = 20;

    pub(super) fn new(front: &'a Front, (requests, since, now): Told<'a>) -> Result<Self, ForecastError> {
        let seconds = now.since(since).as_secs_f64();
        let sessions = Sessions::of(requests, front.classes.len(), now);
        let completed =
            sessions.all.iter().filter(|session| sessions.state(session) == State::Completed).count();
        if seconds < Self::LEAST_SECONDS
            || sessions.all.len() < Self::LEAST_SESSIONS
            || completed < Self::LEAST_COMPLETED
        {
            let (sessions, seconds) = (sessions.all.len(), seconds.round() as u64);
            return Err(ForecastError::TooLittle { sessions, seconds, completed });
        }
        let server = Server::of(requests);
        let number = requests.len() as u64;
        Ok(Self { front, sessions, server, seconds, requests: number, patience: patience(requests) })
    }

    /// What the load is like.
    pub(super) fn load(&self) -> Load {
        let counts = vec![1.0; self.sessions.all.len()];
        let starts = self.starts(&counts);
        let mut random = Seed::new(1, 0).stream(Role::Ways);
        let classes = self.front.classes.iter().enumerate().map(|(class, name)| {
            let habits = Habits::of(&self.sessions, class, self.server, &counts);
            let ways = ways(&habits, &mut random);
            let pauses = ways.iter().flatten().map(|page| page.pause.as_secs_f64());
            let pauses: Vec<f64> = pauses.filter(|pause| *pause > 0.0).collect();
            ClassLoad {
                name: name.clone(),
                starts: starts.get(class).copied().unwrap_or_default(),
                requests: requests_of(&ways),
                pause: pauses.iter().sum::<f64>() / pauses.len().max(1) as f64,
            }
        });
        Load {
            seconds: self.seconds,
            requests: self.requests,
            sessions: self.sessions.all.len() as u64,
            classes: classes.collect(),
        }
    }

    /// Sessions that begin per second, by class. Of those that were refused before their class was known, it is as of the others.
    fn starts(&self, counts: &[f64]) -> Vec<f64> {
        let mut known = vec![0.0; self.front.classes.len()];
        let mut unknown = 0.0;
        for (session, count) in self.sessions.all.iter().zip(counts) {
            match session.class.and_then(|class| known.get_mut(class)) {
                Some(known) => *known += session.weight * count,
                None => unknown += session.weight * count,
            }
        }
        let all: f64 = known.iter().sum();
        let more = if all > 0.0 { 1.0 + unknown / all } else { 1.0 };
        known.iter().map(|starts| starts * more / self.seconds).collect()
    }

    /// The share of requests that were served and belong to no session.
    pub(super) fn alone(&self) -> f64 {
        let served = self.sessions.all.iter().flat_map(|session| &session.requests);
        let served = served.filter(|request| request.fate == Fate::Served);
        let alone = served.clone().filter(|request| request.session.is_none()).count();
        alone as f64 / served.count().max(1) as f64
    }

    /// The share of those that began of whom it is not known of which class they are.
    pub(super) fn unknown(&self) -> f64 {
        let all = &self.sessions.all;
        let unknown: f64 =
            all.iter().filter(|session| session.class.is_none()).map(|session| session.weight).sum();
        unknown / all.iter().map(|session| session.weight).sum::<f64>()
    }

    /// A simulation of it in which each session that was seen counts as often as chance has it (the Poisson bootstrap), so that replications differ by
    /// what is not known of the load as well.
    pub(super) fn model(&self, replication: u32) -> Result<SessionModel, ForecastError> {
        let seed = Seed::new(1, replication);
        let mut random = seed.stream(Role::Resampling);
        let counts: Vec<f64> = self.sessions.all.iter().map(|_| resampled(&mut random)).collect();
        let starts = self.starts(&counts);
        let total: f64 = starts.iter().sum();
        let mut random = seed.stream(Role::Ways);
        let mut longest = Span::ZERO;
        let mut classes = Vec::new();
        for (class, name) in self.front.classes.iter().enumerate() {
            let habits = Habits::of(&self.sessions, class, self.server, &counts);
            let share = starts.get(class).copied().unwrap_or_default() / total.max(f64::MIN_POSITIVE);
            // Of users who were all refused nothing is known, so they are as the others would be.
            let habits = if habits.is_empty() { self.habits_of_any(class, &counts) } else { habits };
            let ways = ways(&habits, &mut random);
            let pauses = ways.iter().map(|way| way.iter().map(|page| page.pause).sum::<Span>());
            longest = longest.max(quantile(&mut pauses.collect::<Vec<_>>(), 0.95).unwrap_or_default());
            classes.push((Arc::from(name.as_str()), share, ways));
        }
        let requests: f64 = classes.iter().map(|(_, share, ways)| share * requests_of(ways)).sum();
        let script = Script::of_ways((self.patience.unwrap_or(FOR_EVER), CONNECTIONS), classes);
        let (warmup, duration) = lengths(total * requests, longest);
        let gate = Gate {
            // What would be if it decided, if it does not.
            policy: Config { mode: Mode::Enforce, ..self.front.policy.clone() },
            limits: self.front.limits,
            // What passing on takes is in what requests were seen to need.
            cost: Span::ZERO,
            addresses: None,
            longest_retry_after: self.front.longest_retry_after,
            classes: script.of_their_own_class(),
        };
        let starts = Ramp::steady(Rate::per_second(total.max(1e-3)).unwrap_or_default(), duration);
        Ok(SessionModel {
            script,
            service: Service::Constant,
            host: self.host(),
            gate: Some(gate),
            process: Process::Poisson,
            starts,
            warmup,
            duration,
            interval: None,
        })
    }

    fn habits_of_any(&self, class: usize, counts: &[f64]) -> Habits {
        let others = (0..self.front.classes.len()).filter(|other| *other != class);
        let mut habits = others.map(|other| Habits::of(&self.sessions, other, self.server, counts));
        habits.find(|habits| !habits.is_empty()).unwrap_or_default()
    }

    /// It takes as many connections as the window lets in: what limits them shows in how long requests take.
    fn host(&self) -> Host {
        let most = match self.front.policy.window {
            Window::Fixed(size) => size,
            Window::Adaptive { max, .. } => max,
        };
        let workers = most.saturating_mul(4).clamp(64, 100_000);
        Host { workers, backlog: workers, keep_alive: Span::from_secs(1), processors: self.server.processors }
    }
}

fn resampled(random: &mut Random) -> f64 {
    Poisson::new(1.0).map_or(1.0, |once| once.sample(random))
}

fn requests_of(ways: &[Vec<WayPage>]) -> f64 {
    let requests: usize = ways.iter().flatten().map(|page| 1 + page.embedded.len()).sum();
    requests as f64 / ways.len().max(1) as f64
}

/// How long a replication is before it counts and then, at so many requests per second, with sessions of such pauses.
fn lengths(rate: f64, pauses: Span) -> (Span, Span) {
    /// Requests of a replication, about.
    const REQUESTS: f64 = 70_000.0;
    const LEAST: Span = Span::from_secs(60);
    const MOST: Span = Span::from_secs(600);
    /// Queues of those who wait in vain fill slowly, and what the policy learns of lengths and patience takes as long.
    const WARMUP: f64 = 0.4;
    const MOST_WARMUP: f64 = 0.6;
    let all = Span::from_secs_f64(REQUESTS / rate.max(1e-3)).clamp(LEAST, MOST);
    let warmup = (pauses + LEAST / 2).clamp(all.mul_f64(WARMUP), all.mul_f64(MOST_WARMUP));
    (warmup, all.saturating_sub(warmup))
}

/// Ways that users of such habits take.
fn ways(habits: &Habits, random: &mut Random) -> Vec<Vec<WayPage>> {
    let (mut ways, mut pages) = (Vec::new(), 0);
    while ways.len() < WAYS && pages < PAGES {
        let way = habits.way(random);
        pages += way.len().max(1);
        ways.push(way);
    }
    ways
}
