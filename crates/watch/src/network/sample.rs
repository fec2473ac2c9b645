//! [`Sample`]: what has gone over all network interfaces, at one moment.

use std::collections::BTreeMap;

use units::Span;

/// One interface since it was set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interface {
    /// What came in.
    pub received: Direction,
    /// What went out.
    pub sent: Direction,
}

/// One direction of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Direction {
    /// Bytes, with the headers of the link.
    pub bytes: u64,
    /// Packets; one that the device puts together or takes apart may count once.
    pub packets: u64,
    /// Packets with errors.
    pub errors: u64,
    /// Packets for which there was no room.
    pub drops: u64,
}

/// All interfaces of this network namespace at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// Since the machine was started.
    pub uptime: Span,
    /// By name.
    pub interfaces: BTreeMap<String, Interface>,
}
