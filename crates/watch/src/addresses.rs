//! [`Addresses`]: where servers listen.

use crate::connections::MAX_PORTS;

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

    /// In order, each once, and no more than can be watched.
    pub(crate) fn settle(&mut self) {
        self.ports.sort_unstable();
        self.ports.dedup();
        self.ports.truncate(MAX_PORTS);
        self.sockets.sort_unstable();
        self.sockets.dedup();
        self.sockets.truncate(MAX_PORTS);
    }
}
