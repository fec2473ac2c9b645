//! Connections by state, and listen queues, by the names that they have in the record.

use std::collections::BTreeMap;

use catalogue::Metric;
use catalogue::watch::connections as metrics;
use serde::Serialize;

use super::sample::{STATES, Sample};

/// A port's listen queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ListenQueue {
    /// Connections that waited to be accepted, at the second sample.
    pub waiting: u64,
    /// How many may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<u64>,
    /// Connections per second for which there was no room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<f64>,
}

impl ListenQueue {
    /// Its figures, as far as they are known.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::DROPS, self.drops),
            (metrics::ROOM, self.room.map(|room| room as f64)),
            (metrics::WAITING, Some(self.waiting as f64)),
        ];
        figures.into_iter().filter_map(|(metric, value)| Some((metric, value?)))
    }
}

/// Connections by state, of all ports together; states without any are left out.
pub fn by_state(sample: &Sample) -> BTreeMap<String, u64> {
    let sum = |state: usize| sample.ports.iter().map(|port| port.states[state]).sum();
    let states = STATES.iter().enumerate().map(|(at, name)| ((*name).to_owned(), sum(at)));
    states.filter(|(_, count)| *count > 0).collect()
}

/// The listen queues between two samples of one source, port by port.
pub fn listen_queues(before: &Sample, after: &Sample) -> impl Iterator<Item = ListenQueue> {
    let seconds = after.uptime.saturating_sub(before.uptime).as_secs_f64();
    before.ports.iter().zip(&after.ports).map(move |(before, after)| ListenQueue {
        waiting: after.waiting,
        room: after.room,
        // Another socket begins at zero.
        drops: after
            .drops
            .zip(before.drops)
            // One sample may stand for two.
            .filter(|_| seconds > 0.0)
            .map(|(after, before)| after.saturating_sub(before) as f64 / seconds),
    })
}
