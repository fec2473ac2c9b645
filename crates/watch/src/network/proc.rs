//! [`Proc`]: samples of network interfaces from `/proc`.

use procfs::process::Process;

use super::sample::{Direction, Interface, Sample};
use crate::clock::uptime;
use crate::error::Error;
use crate::source::Source;

/// Reads `/proc/net/dev`.
#[derive(Debug, Default)]
pub struct Proc {
    /// In whose network namespace, if not in that of this process.
    pub(crate) of: Option<u32>,
}

impl Source for Proc {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        let all = match self.of {
            // Where it has ended there are none that it could be asked for.
            Some(process) => {
                Process::new(process as i32).and_then(|process| process.dev_status()).unwrap_or_default()
            }
            None => procfs::net::dev_status()?,
        };
        let interfaces = all.into_values().map(|status| {
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
