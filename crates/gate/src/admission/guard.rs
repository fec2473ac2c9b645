//! [`Guard`]: what the process may use, how much of it is used, and what is done about it
//! (Web2K section 3.4).

use std::cell::{Cell, RefCell};
use std::fs;
use std::io;
use std::rc::Rc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use units::{Ratio, Time};

use crate::admission::driver::Core;
use crate::clients::registry::Registry;
use crate::runtime::clock::Clock;
use crate::runtime::log::say;
use crate::runtime::net::ACCEPT_PAUSE;
use crate::runtime::notify::Bell;
use crate::settings::client::Clients;
use crate::upstream::pool::Pool;

/// Descriptors left to what is not a client's or the upstream's connection: the listeners, the
/// admin interface, files.
const RESERVED: u64 = 64;
/// More connections than this need a setting of their own: each costs some memory.
const MOST: u64 = 16_384;
/// Idle connections and those of slow clients are closed from here on, so that accepting does not
/// have to wait for it.
const CROWDED: f64 = 0.75;
/// Steps in which the policy is told.
const STEP: f64 = 0.005;

/// What the process may use, and how much of it is used.
#[derive(Debug)]
pub(crate) struct Guard {
    clock: Rc<Clock>,
    clients: Rc<Registry>,
    pool: Rc<Pool>,
    descriptors: u64,
    connections: Cell<usize>,
    streams: Cell<usize>,
    refused_streams: Cell<u64>,
    memory_limit: Cell<Option<u64>>,
    memory: Cell<f64>,
    told: Cell<f64>,
    refused: Cell<u64>,
    free: Bell,
}

impl Guard {
    /// Takes as many descriptors as the kernel gives.
    pub(crate) fn new(
        settings: &Clients,
        clock: &Rc<Clock>,
        clients: &Rc<Registry>,
        pool: &Rc<Pool>,
    ) -> Self {
        let descriptors = raise_descriptors();
        Self {
            clock: Rc::clone(clock),
            clients: Rc::clone(clients),
            pool: Rc::clone(pool),
            descriptors,
            connections: Cell::new(connections(settings, descriptors)),
            streams: Cell::new(settings.streams as usize),
            refused_streams: Cell::new(0),
            memory_limit: Cell::new(settings.memory),
            memory: Cell::new(0.0),
            told: Cell::new(0.0),
            refused: Cell::new(0),
            free: Bell::default(),
        }
    }

    /// Other limits. Connections beyond them stay; there are no more until some have gone.
    pub(crate) fn reconfigure(&self, settings: &Clients) {
        self.connections.set(connections(settings, self.descriptors));
        self.streams.set(settings.streams as usize);
        self.memory_limit.set(settings.memory);
        self.memory.set(0.0);
        self.free.ring();
    }

    /// The process's limit of descriptors.
    pub(crate) fn descriptors(&self) -> u64 {
        self.descriptors
    }

    /// Connections, of clients and to the upstream, that may be open at once.
    pub(crate) fn connections(&self) -> usize {
        self.connections.get()
    }

    /// Whether another stream of HTTP/2 is taken in; counts it if not.
    pub(crate) fn takes_stream(&self) -> bool {
        let takes = self.clients.streams() < self.streams.get();
        if !takes {
            self.refused_streams.set(self.refused_streams.get() + 1);
        }
        takes
    }

    /// Streams that were not.
    pub(crate) fn refused_streams(&self) -> u64 {
        self.refused_streams.get()
    }

    /// Times that the kernel had no descriptor for a connection.
    pub(crate) fn accept_failures(&self) -> u64 {
        self.refused.get()
    }

    /// How much of the scarcest resource is used. Idle connections and those of slow clients are no
    /// use: they make room when it is needed.
    pub(crate) fn used(&self, now: Time) -> f64 {
        let mut taken = (self.clients.open() + self.pool.open()).saturating_sub(self.clients.idle());
        let most = self.connections.get();
        if taken > most / 2 {
            taken = taken.saturating_sub(self.clients.slow(now));
        }
        (taken as f64 / most as f64).max(self.memory.get()).min(1.0)
    }

    /// Tells the policy when that has changed, or how much of the servers is up.
    pub(crate) fn tell(&self, core: &RefCell<Core>, now: Time) {
        let used = self.used(now);
        if (used - self.told.get()).abs() >= STEP {
            self.told.set(used);
            core.borrow_mut().set_pressure(now, Ratio::clamped(used));
        }
        if let Some(share) = self.pool.changed_capacity() {
            core.borrow_mut().set_capacity(now, share);
        }
    }

    /// Waits until there is room for another connection.
    pub(crate) async fn room(&self) {
        while self.clients.open() + self.pool.open() >= self.connections.get() {
            self.clients.make_room(self.clock.read(), self.connections.get() / 50 + 1);
            let _ = tokio::time::timeout(ACCEPT_PAUSE, self.free.wait()).await;
        }
    }

    /// A connection was closed.
    pub(crate) fn left(&self) {
        self.free.ring();
    }

    /// The kernel gave no connection. Out of descriptors or memory it would say so again at once,
    /// so it is left alone for a moment; other errors are about one connection (accept(2)).
    pub(crate) async fn accept_failed(&self, why: &io::Error) {
        let exhausted = !matches!(
            why.kind(),
            io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
        );
        if !exhausted {
            return;
        }
        if self.refused.replace(self.refused.get() + 1) == 0 {
            say!("cannot accept a connection: {why}; raise the limit of descriptors (ulimit -n)");
        }
        self.clients.make_room(self.clock.read(), self.connections.get() / 50 + 1);
        let _ = tokio::time::timeout(ACCEPT_PAUSE, self.free.wait()).await;
    }

    pub(crate) fn look(&self, now: Time) {
        if let Some(limit) = self.memory_limit.get() {
            self.memory.set(resident().map_or(0.0, |bytes| bytes as f64 / limit as f64));
        }
        let open = self.clients.open() + self.pool.open();
        let crowded = (CROWDED * self.connections.get() as f64) as usize;
        if open > crowded {
            self.clients.make_room(now, open - crowded);
        }
        let (open, crowded) = (self.clients.streams(), (CROWDED * self.streams.get() as f64) as usize);
        if open > crowded {
            self.clients.make_room_for_streams(now, open - crowded);
        }
    }
}

fn connections(settings: &Clients, descriptors: u64) -> usize {
    let possible = descriptors.saturating_sub(RESERVED).max(1);
    let connections = settings.connections.map_or(MOST, u64::from).min(possible);
    usize::try_from(connections).unwrap_or(usize::MAX)
}

/// Raises the soft limit of descriptors to the hard one and gives it.
fn raise_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Without the right to, what there is must do.
    let _ = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Bytes of the process in memory (proc_pid_status(5)).
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
