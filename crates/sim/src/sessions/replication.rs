//! [`Replication`]: what came of the sessions of one replication.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::model::SessionModel;
use super::tally::{SessionTally, Summary};
use super::world::World;
use crate::model::SessionModelError;

/// One replication.
#[derive(Debug)]
pub(crate) struct Replication {
    /// By class.
    pub(crate) classes: Vec<Summary>,
    /// By level, then by class; empty where there is one level.
    pub(super) levels: Vec<Vec<Summary>>,
    /// By interval, then by class.
    pub(super) intervals: Vec<Vec<SessionTally>>,
    pub(crate) utilization: f64,
    pub(super) events: u64,
    /// What it took one core.
    pub(super) took: Duration,
}

impl Replication {
    /// Simulates it.
    pub(super) fn simulate(model: &SessionModel, seed: u64, number: u32) -> Result<Self, SessionModelError> {
        let began = Instant::now();
        let mut world = World::new(model, seed, number)?;
        let events = world.run(|| false).unwrap_or_default();
        Ok(Self::of(world, events, began.elapsed()))
    }

    /// Simulates it until `stop` becomes true; `None` if it was not over by then.
    pub(crate) fn simulate_until(
        model: &SessionModel,
        seed: u64,
        number: u32,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, SessionModelError> {
        let began = Instant::now();
        let mut world = World::new(model, seed, number)?;
        let events = world.run(|| stop.load(Ordering::Relaxed));
        Ok(events.map(|events| Self::of(world, events, began.elapsed())))
    }

    fn of(world: World<'_>, events: u64, took: Duration) -> Self {
        let utilization = world.utilization();
        let seen = world.into_seen();
        let summaries = |classes: &Vec<SessionTally>| classes.iter().map(SessionTally::summary).collect();
        Self {
            classes: summaries(&seen.all),
            levels: seen.levels.iter().map(summaries).collect(),
            intervals: seen.intervals,
            utilization,
            events,
            took,
        }
    }
}
