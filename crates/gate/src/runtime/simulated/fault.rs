//! [`Faults`]: what goes wrong in a network, and [`Made`]: what did.

use std::ops::Range;
use std::time::Duration;

/// What goes wrong, and how often: shares of connections.
#[derive(Debug, Clone)]
pub struct Faults {
    /// Time that a piece is under way.
    pub delay: Range<Duration>,
    /// Connections that carry small pieces.
    pub pieces: f64,
    /// Connections that are reset after some bytes.
    pub resets: f64,
    /// Connections that go silent after some bytes: nothing arrives any more, and no side is told.
    pub silences: f64,
    /// SYNs that are lost.
    pub lost: f64,
}

/// What has been made to happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Made {
    /// Connections that were opened.
    pub connections: u64,
    /// Those that carried small pieces.
    pub pieces: u64,
    /// Those that were reset by the network.
    pub resets: u64,
    /// Those that went silent.
    pub silences: u64,
    /// SYNs that were lost or found no room.
    pub lost: u64,
}
