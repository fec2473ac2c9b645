//! [`Server`]: starting and stopping.

use std::io;
use std::net::{SocketAddr, TcpListener};

use crate::error::Error;
use crate::events::Loops;
use crate::options::{Mode, Options};
use crate::workers::Workers;

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    // Held for what its drop does.
    _threads: Threads,
}

#[derive(Debug)]
#[allow(dead_code, reason = "held until dropped, which stops the threads")]
enum Threads {
    Workers(Workers),
    Static(Loops),
}

impl Server {
    /// Listens and starts the workers; clients can connect from now on.
    pub fn start(options: &Options) -> Result<Self, Error> {
        let in_vain = |source| Error::Listen { address: options.listen, source };
        let listener = listen(options).map_err(in_vain)?;
        let address = listener.local_addr().map_err(in_vain)?;
        let threads = match options.mode {
            Mode::Workers => Threads::Workers(Workers::start(listener, options)?),
            Mode::Static => Threads::Static(Loops::start(listener, options)?),
        };
        Ok(Self { address, _threads: threads })
    }

    /// Where the server listens: the address asked for, with its port if that was left open.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all connections, frees the port and waits until every worker has ended.
    pub fn stop(self) {}
}

fn listen(options: &Options) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(options.listen)?;
    // The standard library has called listen(2) with a backlog of its own; a second call changes it.
    rustix::net::listen(&listener, options.backlog.into())?;
    Ok(listener)
}
