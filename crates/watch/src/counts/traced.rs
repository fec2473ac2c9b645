//! [`Traced`]: the program in the kernel that counts.

use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use libbpf_rs::{Link, ProgramMut};
use units::Bytes;

use super::counted::{Counted, OfClass, Protocols, Statuses};
use crate::Error;
use crate::bpf::programs::{peek, place};
use crate::connections::MAX_PORTS;

program!("counts");

/// As in counts.bpf.c.
const MAX_CLASSES: usize = 16;
const STATUSES: usize = 6;

/// How it is seen what is about to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Since Linux 6.16.
    Tracepoint,
    /// On kernels that give programs a way to a function by its name.
    Function,
}

/// Counts, from when it is made until it is dropped.
pub(crate) struct Traced {
    program: program::CountsSkel<'static>,
    classes: usize,
    _links: [Link; 2],
}

impl Traced {
    /// Loads and attaches the programs, for these ports, and classes with these bounds between them, which grow.
    ///
    /// # Errors
    /// When the kernel does not take them.
    pub(crate) fn open(ports: &[u16], bounds: &[Bytes]) -> Result<Self, Error> {
        let by_tracepoint = Self::open_by(Way::Tracepoint, ports, bounds);
        by_tracepoint.or_else(|why| Self::open_by(Way::Function, ports, bounds).map_err(|_| why))
    }

    fn open_by(way: Way, ports: &[u16], bounds: &[Bytes]) -> Result<Self, Error> {
        let mut open = program::CountsSkelBuilder::default()
            .open(place())
            .map_err(Error::bpf("opening the programs that count requests"))?;
        let constants = open.maps.rodata_data.as_deref_mut().ok_or(Error::Unknown("constants"))?;
        constants.ports = ports.len().min(MAX_PORTS) as u32;
        for (place, port) in constants.wanted.iter_mut().zip(ports) {
            *place = *port;
        }
        let classes = (bounds.len() + 1).min(MAX_CLASSES);
        constants.classes = classes as u32;
        for (place, bound) in constants.bounds.iter_mut().zip(bounds) {
            *place = bound.0;
        }
        open.progs.hw_send_locked.set_autoload(way == Way::Tracepoint);
        open.progs.hw_tcp_sendmsg.set_autoload(way == Way::Function);
        let program = open.load().map_err(Error::bpf("loading the programs that count requests"))?;
        let begins = match way {
            Way::Tracepoint => &program.progs.hw_send_locked,
            Way::Function => &program.progs.hw_tcp_sendmsg,
        };
        let attach = |program: &ProgramMut<'_>| {
            program.attach_trace().map_err(Error::bpf("attaching the programs that count requests"))
        };
        let links = [attach(&program.progs.hw_send_counted)?, attach(begins)?];
        Ok(Self { program, classes, _links: links })
    }

    /// What has been counted so far.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub(crate) fn read(&self) -> Result<Counted, Error> {
        let state = self.program.maps.bss_data.as_deref().ok_or(Error::Unknown("variables"))?;
        let sum = |of: &dyn Fn(&program::types::counts) -> u64| {
            state.counts.iter().map(of).fold(0_u64, u64::wrapping_add)
        };
        let class = |class: usize| {
            let by_status: [u64; STATUSES] =
                std::array::from_fn(|first| sum(&|one| peek(&one.statuses[class * STATUSES + first])));
            OfClass {
                requests: by_status.iter().fold(0, |sum, count| sum.wrapping_add(*count)),
                bytes: sum(&|one| peek(&one.bytes[class])),
                statuses: Statuses::of(by_status),
            }
        };
        let connections = |protocol: usize| sum(&|one| peek(&one.connections[protocol]));
        Ok(Counted {
            classes: (0..self.classes).map(class).collect(),
            protocols: Protocols {
                http1: connections(1),
                tls: connections(2),
                http2: connections(3),
                other: connections(4),
            },
            other_bytes: sum(&|one| peek(&one.other_bytes)),
        })
    }
}
