//! [`Sample`]: the connections of ports, at one moment.

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
pub const MAX_PORTS: usize = 16;

/// The place of a state's number in [`STATES`].
pub(super) fn place_of(state: usize) -> Option<usize> {
    let state = if state == NEW_SYN_RECV { 3 } else { state };
    (1..=STATES.len()).contains(&state).then(|| state - 1)
}
