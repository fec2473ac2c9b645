//! [`Guard`]: what the process may use, how much of it is used, and what is done about it
//! (Web2K section 3.4).

use std::cell::{Cell, RefCell};
use std::fs;
use std::io;
use std::rc::Rc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use units::Time;

use crate::admission::driver::AdmissionDriver;
use crate::clients::registry::Registry;
use crate::runtime::clock::Clock;
use crate::runtime::log::say;
use crate::runtime::net::ACCEPT_PAUSE;
use crate::runtime::notify::Notify;
use crate::upstream::pool::Pool;
use gate_config::settings::client::Clients;

/// What the process may use, and how much of it is used.
#[derive(Debug)]
pub(crate) struct Guard {
    clock: Rc<Clock>,
    clients: Rc<Registry>,
    pool: Rc<Pool>,
    descriptors: u64,
    accept_failures: Cell<u64>,
    free: Notify,
}

impl Guard {
    /// Takes as many descriptors as the kernel gives.
    pub(crate) fn new(
        settings: &Clients,
        clock: &Rc<Clock>,
        clients: &Rc<Registry>,
        pool: &Rc<Pool>,
    ) -> Self {
        let guard = Self {
            clock: Rc::clone(clock),
            clients: Rc::clone(clients),
            pool: Rc::clone(pool),
            descriptors: raise_descriptors(),
            accept_failures: Cell::new(0),
            free: Notify::default(),
        };
        guard.reconfigure(settings);
        guard
    }

    /// Other limits. Connections beyond them stay; there are no more until some have gone.
    pub(crate) fn reconfigure(&self, settings: &Clients) {
        let limits = settings.limits(self.descriptors, self.pool.times().response);
        self.clients.set_limits(limits);
        self.free.notify();
    }

    /// The process's limit of descriptors.
    pub(crate) fn descriptors(&self) -> u64 {
        self.descriptors
    }

    /// Connections, of clients and to the upstream, that may be open at once.
    pub(crate) fn connections(&self) -> usize {
        self.clients.connection_limit()
    }

    /// Times that the kernel had no descriptor for a connection.
    pub(crate) fn accept_failures(&self) -> u64 {
        self.accept_failures.get()
    }

    /// Tells the policy when it has changed how much of what there is, is used, or how much of the servers
    /// is up.
    pub(crate) fn tell(&self, driver: &RefCell<AdmissionDriver>, now: Time) {
        if let Some(used) = self.clients.changed_pressure(now, self.pool.open()) {
            driver.borrow_mut().set_pressure(now, used);
        }
        if let Some(share) = self.pool.changed_capacity() {
            driver.borrow_mut().set_capacity(now, share);
        }
    }

    /// Waits until there is room for another connection.
    pub(crate) async fn room(&self) {
        while !self.clients.has_room(self.clock.read(), self.pool.open()) {
            let _ = tokio::time::timeout(ACCEPT_PAUSE, self.free.notified()).await;
        }
    }

    /// A connection was closed.
    pub(crate) fn left(&self) {
        self.free.notify();
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
        if self.accept_failures.replace(self.accept_failures.get() + 1) == 0 {
            say!("cannot accept a connection: {why}; raise the limit of descriptors (ulimit -n)");
        }
        self.clients.exhausted(self.clock.read());
        let _ = tokio::time::timeout(ACCEPT_PAUSE, self.free.notified()).await;
    }

    /// Whether there is no kernel behind the gate, and time is not the wall clock's.
    pub(crate) fn is_simulated(&self) -> bool {
        self.pool.connector.is_simulated()
    }

    /// Looks how much memory the process has, and makes room before it is needed.
    pub(crate) fn look(&self, now: Time) {
        // The process of a simulation is not the gate's, and has other memory in each run.
        if !self.is_simulated() {
            self.clients.set_memory(resident().unwrap_or(0));
        }
        self.clients.relieve(now, self.pool.open());
    }
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
