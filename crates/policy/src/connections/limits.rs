//! [`ConnectionLimits`]: what connections may use, and how long their clients may take.

use units::Span;

/// What connections may use, and how long their clients may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections, of clients and to the upstream, that may be open at once.
    pub connections: usize,
    /// Streams of HTTP/2 that may be open at once, of all connections.
    pub streams: usize,
    /// Memory of the process, in bytes, that counts as all of it; without a limit, `None`.
    pub memory: Option<u64>,
    /// For a request's head, from its first byte on.
    pub header_timeout: Span,
    /// Without a request.
    pub idle_timeout: Span,
    /// For a client that takes nothing of its response or sends nothing of its request.
    pub stall_timeout: Span,
    /// For a server that sends nothing more of a response.
    pub answer_timeout: Span,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 16_384,
            streams: 16_384,
            memory: None,
            header_timeout: Span::from_secs(10),
            idle_timeout: Span::from_secs(15),
            stall_timeout: Span::from_secs(30),
            answer_timeout: Span::from_secs(60),
        }
    }
}
