//! What goes over the network interfaces: the paper's `my_get_netstats` (section 4.1).
//!
//! Drivers keep these sums each in their own way, so a program in the kernel could not read them for all;
//! [`Proc`] asks the kernel for them.

mod metrics;

pub use metrics::{Rates, rates};

use std::collections::BTreeMap;

use units::Span;

use crate::clock::uptime;
use crate::{Error, Source};

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

/// Reads `/proc/net/dev`.
#[derive(Debug, Default)]
pub struct Proc;

impl Source for Proc {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        let interfaces = procfs::net::dev_status()?.into_values().map(|status| {
            let received = Direction {
                bytes: status.recv_bytes,
                packets: status.recv_packets,
                errors: status.recv_errs,
                drops: status.recv_drop,
            };
            let sent = Direction {
                bytes: status.sent_bytes,
                packets: status.sent_packets,
                errors: status.sent_errs,
                drops: status.sent_drop,
            };
            (status.name, Interface { received, sent })
        });
        Ok(Sample { uptime: uptime(), interfaces: interfaces.collect() })
    }
}
