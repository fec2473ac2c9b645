//! [`Traced`]: by a program in the kernel that walks over its table of connections.

use libbpf_rs::Link;
use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};

use super::sample::{MAX_PORTS, Port, Sample, place_of};
use crate::bpf::programs::{peek, place, walk};
use crate::clock::uptime;
use crate::{Error, Source};

program!("connections");

/// Walks over all connections of this network namespace.
pub struct Traced {
    program: program::ConnectionsSkel<'static>,
    walk: Link,
    ports: usize,
}

impl Traced {
    /// Loads the program, for these ports; of more than [`MAX_PORTS`] the first.
    ///
    /// # Errors
    /// When the kernel does not take it.
    pub fn open(ports: &[u16]) -> Result<Self, Error> {
        let mut open = program::ConnectionsSkelBuilder::default()
            .open(place())
            .map_err(Error::bpf("opening the program for connections"))?;
        let constants = open.maps.rodata_data.as_deref_mut().ok_or(Error::Unknown("constants"))?;
        let count = ports.len().min(MAX_PORTS);
        constants.count = count as u32;
        constants.wanted[..count].copy_from_slice(&ports[..count]);
        let program = open.load().map_err(Error::bpf("loading the program for connections"))?;
        let walk = program.progs.hw_iter_tcp.attach().map_err(Error::bpf("walking over connections"))?;
        Ok(Self { program, walk, ports: count })
    }
}

impl Source for Traced {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        let state = self.program.maps.bss_data.as_deref_mut().ok_or(Error::Unknown("variables"))?;
        for port in &mut state.ports {
            *port = program::types::port::default();
        }
        walk(&self.walk, "walking over connections")?;
        let ports = state.ports[..self.ports].iter().map(|port| {
            let port = peek(port);
            let mut found = Port {
                waiting: u64::from(port.waiting),
                room: Some(u64::from(port.room)),
                drops: Some(port.drops),
                ..Port::default()
            };
            for (number, count) in port.states.into_iter().enumerate() {
                if let Some(place) = place_of(number) {
                    found.states[place] += count;
                }
            }
            found
        });
        let ports = ports.collect();
        Ok(Sample { uptime: uptime(), ports })
    }
}
