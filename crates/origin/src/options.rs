//! [`Options`]: what a server is started with.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use units::Span;

use crate::address::Address;

/// How connections are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One blocking thread per connection out of a fixed number: saturates like Apache's prefork.
    Workers,
    /// One event loop per thread, content from memory: does not saturate before the client.
    Static,
}

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen.
    pub listen: Address,
    /// How connections are served.
    pub mode: Mode,
    /// A directory whose files are served where their names are asked for, before the pages of the
    /// server's own. Symbolic links in it are not followed. [`Mode::Static`] reads all of it into
    /// memory at the start, up to [`MAX_CONTENT`](crate::MAX_CONTENT).
    pub content: Option<PathBuf>,
    /// How many connections are served at once in [`Mode::Workers`]; threads in [`Mode::Static`].
    pub workers: NonZeroUsize,
    /// Established connections that wait in the kernel for a worker. Linux admits one more than
    /// this, and never more than `net.core.somaxconn` + 1.
    pub backlog: u16,
    /// How long a connection may be idle between two requests.
    pub keep_alive: Span,
    /// How long the head of a request may take to arrive, and how long a client may send nothing of
    /// the body of its request or take nothing of its response.
    pub patience: Span,
}

impl Options {
    /// Apache's defaults as Debian ships them (`MaxRequestWorkers 150`, `ListenBacklog 511`,
    /// `KeepAliveTimeout 5`, `RequestReadTimeout header=20`), so that both saturate alike; in
    /// static mode one thread per core.
    pub fn new(mode: Mode) -> Self {
        const PREFORK: NonZeroUsize = NonZeroUsize::new(150).unwrap();
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)).into(),
            mode,
            content: None,
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
