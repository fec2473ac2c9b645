//! [`Pool`]: connections to the upstream, kept alive between requests.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use units::{Span, Time};

use super::{Body, Failure};
use crate::clock::Clock;
use crate::settings::Upstream;

/// Connections to the upstream that are free, the one used last on top, so that those not needed
/// grow old and are closed.
#[derive(Debug)]
pub(crate) struct Pool {
    settings: Upstream,
    addresses: Vec<SocketAddr>,
    clock: Rc<Clock>,
    free: RefCell<Vec<Free>>,
    open: Rc<Cell<usize>>,
    opened: Cell<u64>,
    reused: Cell<u64>,
}

#[derive(Debug)]
struct Free {
    sender: SendRequest<Body>,
    since: Time,
}

/// A connection in use by one request.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) sender: SendRequest<Body>,
}

impl Pool {
    pub(crate) fn new(settings: Upstream, addresses: Vec<SocketAddr>, clock: Rc<Clock>) -> Self {
        Self {
            settings,
            addresses,
            clock,
            free: RefCell::default(),
            open: Rc::default(),
            opened: Cell::new(0),
            reused: Cell::new(0),
        }
    }

    pub(crate) fn settings(&self) -> &Upstream {
        &self.settings
    }

    /// A connection that was used before, if one is free and still good.
    pub(crate) async fn reuse(&self) -> Option<Lease> {
        loop {
            let Free { mut sender, .. } = self.free.borrow_mut().pop()?;
            // A connection given back a moment ago is ready once its task has seen that the
            // response is over; one that the server has closed never is.
            if sender.ready().await.is_ok() {
                self.reused.set(self.reused.get() + 1);
                return Some(Lease { sender });
            }
        }
    }

    /// A new connection.
    pub(crate) async fn connect(&self) -> Result<Lease, Failure> {
        let socket = timeout(self.settings.connect_timeout, self.connect_to_any()).await;
        let socket = socket.map_err(|_| Failure::ConnectTimeout)?.map_err(Failure::Connect)?;
        socket.set_nodelay(true).map_err(Failure::Connect)?;
        let (sender, connection) =
            http1::Builder::new().handshake(TokioIo::new(socket)).await.map_err(Failure::Broken)?;
        self.opened.set(self.opened.get() + 1);
        let open = Open::new(&self.open);
        tokio::task::spawn_local(async move {
            // What is wrong with it, the request that uses it is told.
            let _ = connection.await;
            drop(open);
        });
        Ok(Lease { sender })
    }

    async fn connect_to_any(&self) -> std::io::Result<TcpStream> {
        let mut last = None;
        for address in &self.addresses {
            match TcpStream::connect(address).await {
                Ok(socket) => return Ok(socket),
                Err(why) => last = Some(why),
            }
        }
        Err(last.unwrap_or_else(|| std::io::ErrorKind::AddrNotAvailable.into()))
    }

    /// Takes a connection back after a complete response; no more than `most` are kept.
    pub(crate) fn give_back(&self, lease: Lease, most: usize) {
        let mut free = self.free.borrow_mut();
        if !lease.sender.is_closed() && free.len() < most {
            free.push(Free { sender: lease.sender, since: self.clock.last() });
        }
    }

    /// Closes connections that were free for too long, and those the server has closed.
    pub(crate) fn sweep(&self, now: Time) {
        let longest = Span::from(self.settings.idle_timeout);
        self.free.borrow_mut().retain(|free| !free.sender.is_closed() && now.since(free.since) <= longest);
    }

    /// Connections open: free and in use.
    pub(crate) fn open(&self) -> usize {
        self.open.get()
    }

    /// Of these, free.
    pub(crate) fn free(&self) -> usize {
        self.free.borrow().len()
    }

    /// Connections opened since the start, and requests sent over one that was open already.
    pub(crate) fn traffic(&self) -> (u64, u64) {
        (self.opened.get(), self.reused.get())
    }
}

/// Counts a connection for as long as its task runs.
struct Open(Rc<Cell<usize>>);

impl Open {
    fn new(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
