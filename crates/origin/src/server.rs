//! [`Server`]: starting and stopping.

use std::sync::Arc;

use crate::address::Address;
use crate::answer::Site;
use crate::content::Content;
use crate::error::Error;
use crate::events::loops::Loops;
use crate::listener::{Listener, SocketFile};
use crate::options::{Mode, Options};
use crate::workers::Workers;

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: Address,
    // Held for what their drop does, in this order.
    _threads: Threads,
    _file: Option<SocketFile>,
}

#[derive(Debug)]
#[allow(dead_code, reason = "held until dropped, which stops the threads")]
enum Threads {
    Workers(Workers),
    Static(Loops),
}

impl Server {
    /// Reads the content, listens and starts the workers; clients can connect from now on.
    pub fn start(options: &Options) -> Result<Self, Error> {
        let content = options.content.as_ref().map(|directory| Content::open(directory, options.mode));
        let site = Arc::new(Site { mode: options.mode, content: content.transpose()? });
        let Listener { socket, address, file } = Listener::new(&options.listen, options.backlog)
            .map_err(|source| Error::Listen { address: options.listen.clone(), source })?;
        let threads = match options.mode {
            Mode::Workers => Threads::Workers(Workers::start(socket, site, options)?),
            Mode::Static => Threads::Static(Loops::start(socket, &site, options)?),
        };
        Ok(Self { address, _threads: threads, _file: file })
    }

    /// Where the server listens: the address asked for, with its port if that was left open.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Closes all connections, frees the address and waits until every worker has ended.
    pub fn stop(self) {}
}
