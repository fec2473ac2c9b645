//! [`Proc`]: from `/proc`.

use std::net::SocketAddr;

use procfs::process::Process;

use super::sample::{MAX_PORTS, Port, Sample, place_of};
use crate::clock::uptime;
use crate::{Error, Source};

/// Reads `/proc/net/tcp` and `/proc/net/tcp6`: a line for each connection of the machine.
#[derive(Debug)]
pub struct Proc {
    ports: Vec<u16>,
    /// In whose network namespace, if not in that of this process.
    of: Option<u32>,
}

/// `include/net/tcp_states.h`
const LISTEN: usize = 10;

impl Proc {
    /// For these ports; of more than [`MAX_PORTS`] the first.
    pub fn open(ports: &[u16]) -> Self {
        Self::open_at(ports, None)
    }

    /// In the network namespace of this process, or of another one.
    pub(crate) fn open_at(ports: &[u16], of: Option<u32>) -> Self {
        Self { ports: ports.iter().copied().take(MAX_PORTS).collect(), of }
    }
}

impl Source for Proc {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        let mut ports = vec![Port::default(); self.ports.len()];
        // Without IPv6 there is no such file.
        let (entries, others) = match self.of {
            Some(process) => {
                // Where it has ended there are none that it could be asked for.
                let process = Process::new(process as i32);
                let tcp = process.as_ref().ok().and_then(|process| process.tcp().ok());
                (tcp.unwrap_or_default(), process.and_then(|process| process.tcp6()).unwrap_or_default())
            }
            None => (procfs::net::tcp()?, procfs::net::tcp6().unwrap_or_default()),
        };
        for entry in entries.into_iter().chain(others) {
            let own = SocketAddr::port(&entry.local_address);
            let Some(at) = self.ports.iter().position(|port| *port == own) else { continue };
            let state = entry.state as usize;
            if let Some(place) = place_of(state) {
                ports[at].states[place] += 1;
            }
            if state == LISTEN {
                ports[at].waiting += u64::from(entry.rx_queue);
            }
        }
        Ok(Sample { uptime: uptime(), ports })
    }
}
