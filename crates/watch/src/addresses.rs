//! [`Addresses`]: where servers listen.

use crate::connections::MAX_PORTS;

/// A unix socket's path has so many bytes at most (unix(7)).
pub(crate) const MAX_PATH: usize = 108;

/// Where servers listen, as far as it is watched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addresses {
    /// Ports of TCP.
    pub ports: Vec<u16>,
    /// Unix sockets by their paths, as the server has bound them; abstract names with an @ before them, as ss(8) shows them.
    pub sockets: Vec<String>,
}

impl Addresses {
    /// One port.
    pub fn at_port(port: u16) -> Self {
        Self { ports: vec![port], ..Self::default() }
    }

    /// One unix socket.
    pub fn at_socket(path: impl Into<String>) -> Self {
        Self { sockets: vec![path.into()], ..Self::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty() && self.sockets.is_empty()
    }

    /// Each as it is written.
    pub(crate) fn names(&self) -> Vec<String> {
        self.ports.iter().map(u16::to_string).chain(self.sockets.iter().cloned()).collect()
    }

    /// What they are called.
    pub(crate) fn kind(&self) -> &'static str {
        if self.ports.is_empty() { "unix socket" } else { "port" }
    }

    /// In order, each once, and no more than can be watched.
    pub(crate) fn settle(&mut self) {
        settle(&mut self.ports);
        settle(&mut self.sockets);
    }
}

fn settle(all: &mut Vec<impl Ord>) {
    all.sort_unstable();
    all.dedup();
    all.truncate(MAX_PORTS);
}
