//! [`Replication`]: what came of the sessions of one replication.

use std::time::{Duration, Instant};

use super::model::SessionModel;
use super::tally::{SessionTally, Summary};
use super::world::World;
use crate::model::SessionModelError;

/// One replication.
#[derive(Debug)]
pub(super) struct Replication {
    /// By class.
    pub(super) classes: Vec<Summary>,
    /// By level, then by class; empty where there is one level.
    pub(super) levels: Vec<Vec<Summary>>,
    /// By interval, then by class.
    pub(super) intervals: Vec<Vec<SessionTally>>,
    pub(super) utilization: f64,
    pub(super) events: u64,
    /// What it took one core.
    pub(super) took: Duration,
}

impl Replication {
    /// Simulates it.
    pub(super) fn simulate(model: &SessionModel, seed: u64, number: u32) -> Result<Self, SessionModelError> {
        let began = Instant::now();
        let mut world = World::new(model, seed, number)?;
        let events = world.run();
        let utilization = world.utilization();
        let seen = world.into_seen();
        let summaries = |classes: &Vec<SessionTally>| classes.iter().map(SessionTally::summary).collect();
        Ok(Self {
            classes: summaries(&seen.all),
            levels: seen.levels.iter().map(summaries).collect(),
            intervals: seen.intervals,
            utilization,
            events,
            took: began.elapsed(),
        })
    }
}
