//! [`Shortage`]: what the generator itself ran out of.

use std::io;

use rustix::io::Errno;

/// Connections that failed because the generator, rather than the server, lacked something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shortage {
    /// Descriptors, or memory.
    pub(crate) descriptors: u64,
    /// Local ports.
    pub(crate) ports: u64,
}

impl Shortage {
    /// Counts a connection that failed so, if the error says so.
    pub(crate) fn count(&mut self, error: &io::Error) {
        match Errno::from_io_error(error) {
            Some(Errno::ADDRNOTAVAIL) => self.ports += 1,
            Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => self.descriptors += 1,
            _ => {}
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.descriptors += other.descriptors;
        self.ports += other.ports;
    }
}
