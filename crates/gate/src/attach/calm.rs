//! [`Calm`]: whether the server accepts connections itself.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use handoff::tokens::Strangers;

use crate::dispatch::active_config::ActiveConfig;

/// The server accepts connections itself, for as long as there are places for all.
#[derive(Debug, Default)]
pub(super) struct Calm {
    /// What the processes have been told of sessions follows from this.
    pub(super) config: RefCell<Option<Rc<ActiveConfig>>>,
    /// When the sessions that are prepared were made.
    pub(super) made: Cell<Option<Instant>>,
    /// It does not before.
    pub(super) not_before: Cell<Option<Instant>>,
    /// First requests that have begun, and connections that the processes have passed on, since the last second.
    pub(super) begun: Cell<u32>,
    pub(super) passed_on: Cell<u32>,
    /// Of those that have begun, whose clients have tokens that the gate does not know.
    pub(super) strangers: Cell<u32>,
    /// All that the processes have accepted, by listener.
    accepted: RefCell<BTreeMap<u64, u64>>,
    /// What clients without a session have, as the processes were told.
    pub(super) told: Cell<Option<Strangers>>,
}

impl Calm {
    /// Not for the next second: something has to be said to clients.
    pub(super) fn ends(&self) {
        self.ends_for(Duration::from_secs(1));
    }

    /// Not for so long.
    pub(super) fn ends_for(&self, span: Duration) {
        let until = Instant::now() + span;
        self.not_before.set(self.not_before.get().max(Some(until)));
    }

    /// A process has passed a connection on that it has accepted.
    pub(super) fn passed_on(&self, listener: u64) {
        self.passed_on.set(self.passed_on.get() + 1);
        self.count(listener);
    }

    /// A first request has begun.
    pub(super) fn begun(&self, listener: u64) {
        self.begun.set(self.begun.get() + 1);
        self.count(listener);
    }

    fn count(&self, listener: u64) {
        *self.accepted.borrow_mut().entry(listener).or_default() += 1;
    }

    /// How many connections of a listener the processes have accepted.
    pub(super) fn accepted(&self, listener: u64) -> u64 {
        self.accepted.borrow().get(&listener).copied().unwrap_or_default()
    }

    /// A client has a token that the gate does not know, and will not be told of a session for as long as it is not asked about.
    pub(super) fn is_stranger(&self) {
        self.strangers.set(self.strangers.get() + 1);
    }
}
