//! [`Options`]: what a server is started with.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::thread;

use units::Span;

/// How connections are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One blocking thread per connection out of a fixed number: saturates like Apache's prefork.
    Workers,
    /// One event loop per thread, content from memory only: does not saturate before the client.
    Static,
}

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// How connections are served.
    pub mode: Mode,
    /// How many connections are served at once in [`Mode::Workers`]; threads in [`Mode::Static`].
    pub workers: NonZeroUsize,
    /// Established connections that wait in the kernel for a worker. Linux admits one more than
    /// this, and never more than `net.core.somaxconn` + 1.
    pub backlog: u16,
    /// How long a connection may be idle between two requests.
    pub keep_alive: Span,
    /// How long the head of a request may take to arrive, and how long a client may take nothing
    /// of its response.
    pub patience: Span,
}

impl Options {
    /// Apache's defaults as Debian ships them (`MaxRequestWorkers 150`, `ListenBacklog 511`,
    /// `KeepAliveTimeout 5`, `RequestReadTimeout header=20`), so that both saturate alike; in
    /// static mode one thread per core.
    pub fn new(mode: Mode) -> Self {
        const PREFORK: NonZeroUsize = NonZeroUsize::new(150).unwrap();
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            mode,
            workers: match mode {
                Mode::Workers => PREFORK,
                Mode::Static => thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            },
            backlog: 511,
            keep_alive: Span::from_secs(5),
            patience: Span::from_secs(20),
        }
    }
}
