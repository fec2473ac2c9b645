//! Connections of certain ports by state, and the listen queues behind them: the paper's `my_get_connstats`
//! (section 4.1).

mod proc;
mod traced;

pub use proc::Proc;
pub use traced::Traced;

use std::collections::BTreeMap;

use catalogue::Metric;
use catalogue::watch::connections as metrics;
use serde::Serialize;
use units::Span;

/// States of a connection (RFC 9293 section 3.3.2), by the names that `ss` gives them, in the order of
/// `include/net/tcp_states.h`; the first has the number 1.
pub const STATES: [&str; 11] = [
    "ESTAB",
    "SYN-SENT",
    "SYN-RECV",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "TIME-WAIT",
    "UNCONN",
    "CLOSE-WAIT",
    "LAST-ACK",
    "LISTEN",
    "CLOSING",
];
/// A connection that is not yet one, after the first packet: counted with `SYN-RECV`.
const NEW_SYN_RECV: usize = 12;

/// The connections of one port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Port {
    /// How many there are in each state, as in [`STATES`].
    pub states: [u64; STATES.len()],
    /// Connections that wait to be accepted.
    pub waiting: u64,
    /// How many may; not known from `/proc`.
    pub room: Option<u64>,
    /// Connections for which there was no room, since the socket listens; not known from `/proc`.
    pub drops: Option<u64>,
}

/// All ports at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// Since the machine was started.
    pub uptime: Span,
    /// In the order in which they were asked for.
    pub ports: Vec<Port>,
}

/// Ports that can be watched at once.
pub const MOST_PORTS: usize = 16;

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

/// The place of a state's number in [`STATES`].
fn place(state: usize) -> Option<usize> {
    let state = if state == NEW_SYN_RECV { 3 } else { state };
    (1..=STATES.len()).contains(&state).then(|| state - 1)
}
