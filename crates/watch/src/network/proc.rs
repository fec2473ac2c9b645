//! [`Proc`]: samples of network interfaces from `/proc`.

use super::sample::{Direction, Interface, Sample};
use crate::clock::uptime;
use crate::error::Error;
use crate::source::Source;

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
