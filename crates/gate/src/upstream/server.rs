//! [`Server`]: one server, how it is, and the connections to it that are kept.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Waker};

use rustls_pki_types::ServerName;
use units::{Span, Time};

use crate::upstream::health::Health;
use crate::upstream::http1::idle::Idle;
use crate::upstream::http2::Shared;
use crate::upstream::unanswered::Unanswered;
use gate_config::settings::upstream::Http;

/// One server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    pub(crate) health: Health,
    outstanding: Cell<u32>,
    /// When it would be its turn if all servers were idle: see `balance`.
    pub(crate) turn: Cell<u64>,
    /// HTTP/1.1: connections without a request, the one used last on top, so that those not
    /// needed grow old and are closed.
    free: RefCell<Vec<Free>>,
    pub(super) unanswered: Unanswered,
    /// HTTP/2: connections that take more requests.
    pub(crate) shared: RefCell<Vec<Rc<Shared>>>,
    /// Held by the one request that opens a connection for all.
    pub(crate) opening: tokio::sync::Mutex<()>,
    requests: Cell<u64>,
    failures: Cell<u64>,
}

/// Where a server is and how it is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// As configured: host and port.
    pub(crate) name: String,
    /// Never empty; more than one are ways to the same server.
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) weight: u32,
    pub(crate) http: Http,
    /// With TLS, for whom its certificate is to be.
    pub(crate) tls: Option<ServerName<'static>>,
}

#[derive(Debug)]
struct Free {
    connection: Idle,
    since: Time,
}

impl Server {
    pub(crate) fn new(endpoint: Endpoint) -> Rc<Self> {
        Rc::new(Self {
            endpoint,
            health: Health::default(),
            outstanding: Cell::new(0),
            turn: Cell::new(0),
            free: RefCell::default(),
            unanswered: Unanswered::default(),
            shared: RefCell::default(),
            opening: tokio::sync::Mutex::new(()),
            requests: Cell::new(0),
            failures: Cell::new(0),
        })
    }

    /// What it is called in metrics and messages.
    pub(crate) fn address(&self) -> SocketAddr {
        self.endpoint.addresses.first().copied().unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0)))
    }

    /// Requests it has and has not answered to the end.
    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding.get()
    }

    /// Requests sent to it since the start, and those of them that it failed.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.requests.get(), self.failures.get())
    }

    pub(crate) fn count_failure(&self) {
        self.failures.set(self.failures.get() + 1);
    }

    /// A kept connection.
    pub(crate) fn take_free(&self) -> Option<Idle> {
        self.free.borrow_mut().pop().map(|free| free.connection)
    }

    pub(crate) fn keep(&self, connection: Idle, now: Time) {
        self.free.borrow_mut().push(Free { connection, since: now });
    }

    /// Kept connections.
    pub(crate) fn free(&self) -> usize {
        self.free.borrow().len()
    }

    /// Lets go of connections that were free for too long, and those the server has closed.
    pub(crate) fn sweep(&self, now: Time, longest: Span) {
        let mut nobody = Context::from_waker(Waker::noop());
        let mut free = self.free.borrow_mut();
        // Connections that are not used make way for those that wait: see `unanswered`.
        let kept = free.len().saturating_sub(self.unanswered.number());
        free.truncate(kept);
        free.retain_mut(|free| now.since(free.since) <= longest && free.connection.is_quiet(&mut nobody));
        self.shared.borrow_mut().retain(|shared| shared.is_worth_keeping(now, longest));
    }

    /// Lets go of all connections that carry no request: it is no longer one of the servers.
    pub(crate) fn leave(&self) {
        self.free.take();
        self.shared.take();
    }
}

/// A request that a server has, for as long as it has it.
#[derive(Debug)]
pub(crate) struct Load {
    server: Rc<Server>,
    trial: bool,
}

impl Load {
    /// `trial` says that the server gets this request to see whether it is back.
    #[inline]
    pub(crate) fn new(server: Rc<Server>, trial: bool) -> Self {
        server.outstanding.set(server.outstanding.get() + 1);
        server.requests.set(server.requests.get() + 1);
        if trial {
            server.health.try_out(true);
        }
        Self { server, trial }
    }

    pub(crate) fn server(&self) -> &Rc<Server> {
        &self.server
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.server.outstanding.set(self.server.outstanding.get() - 1);
        if self.trial {
            self.server.health.try_out(false);
        }
    }
}
