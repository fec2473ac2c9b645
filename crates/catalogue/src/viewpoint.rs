//! [`Viewpoint`]: who saw it.

/// Who saw what a metric says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Viewpoint {
    /// The load generator.
    Client,
    /// The server under test.
    Server,
    /// An interface of the server's host, and the queue in front of it.
    Network,
    /// The gate.
    Gate,
}

impl Viewpoint {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Client, Self::Server, Self::Network, Self::Gate];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Network => "network",
            Self::Gate => "gate",
        }
    }
}
