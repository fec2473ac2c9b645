//! [`Aftermath`]: what came of a move, beside what was before and what was predicted.

use std::time::{Duration, Instant};

use crate::api::foresight::Point;
use crate::api::outcome::{FEW, Outcome};
use crate::api::state::Knobs;
use crate::link::news::Order;

/// So far back before the move it is looked, s.
const BEFORE: f64 = 180.0;
/// Sessions that begin sooner after the move still meet what was before, and count as neither, s.
const SETTLING: f64 = 10.0;
/// How often what came of it is looked at: the gate goes through all that it remembers.
const LOOK: Duration = Duration::from_secs(10);
/// The gate remembers some minutes.
const KEPT: Duration = Duration::from_secs(600);

/// What came of a move.
#[derive(Debug)]
pub(super) struct Aftermath {
    pub(super) from: Knobs,
    pub(super) to: Knobs,
    at: Instant,
    /// The gate's clock at the move.
    clock: f64,
    /// From when on sessions count as before it, by the gate's clock.
    first: f64,
    pub(super) predicted: Option<Point>,
    pub(super) before: Option<Result<Outcome, String>>,
    pub(super) since: Option<Result<Outcome, String>>,
    /// Since when the question under way asks.
    asked: Option<f64>,
    looked: Instant,
    /// Why nothing is added any more.
    pub(super) ended: Option<&'static str>,
}

impl Aftermath {
    /// Of a move now; `clock` is the gate's. What came of an earlier one is not what was before both.
    pub(super) fn new(
        (from, to): (Knobs, Knobs),
        predicted: Option<Point>,
        earlier: Option<&Self>,
        now: Instant,
        clock: f64,
    ) -> Self {
        let steady = earlier.map_or(0.0, |earlier| earlier.clock + SETTLING);
        let first = (clock - BEFORE).max(steady.min(clock)).max(0.0);
        let (before, since, asked, ended) = (None, None, None, None);
        Self { from, to, at: now, clock, first, predicted, before, since, asked, looked: now, ended }
    }

    /// The knobs do not do this any more, or not alone.
    pub(super) fn end(&mut self, why: &'static str) {
        self.ended.get_or_insert(why);
    }

    pub(super) fn lost(&mut self) {
        self.asked = None;
    }

    /// The question that is due: first for what was before, as long as the gate still remembers it.
    pub(super) fn tick(&mut self, now: Instant) -> Option<Order> {
        if now.saturating_duration_since(self.at) >= KEPT {
            self.end("it was ten minutes ago");
        }
        if self.asked.is_some() {
            return None;
        }
        // Later it would have in it what came after.
        if self.before.is_none() && now.saturating_duration_since(self.at) >= LOOK {
            self.before = Some(Err("the gate was not there at the move".to_owned()));
        }
        let since = if self.before.is_none() {
            self.first
        } else if self.ended.is_none() && now.saturating_duration_since(self.looked) >= LOOK {
            self.looked = now;
            self.clock + SETTLING
        } else {
            return None;
        };
        self.asked = Some(since);
        Some(Order::LookBack { since })
    }

    /// Takes what the gate says to what was asked.
    pub(super) fn outcome(&mut self, since: f64, told: Result<Outcome, String>) {
        if self.asked.take_if(|asked| *asked == since).is_none() {
            return;
        }
        if self.before.is_none() {
            self.before = Some(told);
        } else if self.ended.is_none() && (told.is_ok() || !matches!(self.since, Some(Ok(_)))) {
            self.since = Some(told);
        }
    }

    pub(super) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.at)
    }

    /// From when on it was before, and when it was moved; by the gate's clock.
    pub(super) fn times(&self) -> [f64; 2] {
        [self.first, self.clock]
    }

    /// What was measured since, as soon as there is any.
    pub(super) fn measured(&self) -> Option<&Outcome> {
        let outcome = self.since.as_ref()?.as_ref().ok()?;
        (outcome.sessions() > 0.0).then_some(outcome)
    }

    /// Whether so much was measured that it says something.
    pub(super) fn is_telling(&self) -> bool {
        self.measured().is_some_and(|outcome| outcome.sessions() >= FEW)
    }
}
