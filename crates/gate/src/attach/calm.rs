//! [`Calm`]: whether the server accepts connections itself.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

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
    /// All of both.
    pub(super) taken: Cell<u64>,
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
    pub(super) fn passed_on(&self) {
        self.passed_on.set(self.passed_on.get() + 1);
        self.taken.set(self.taken.get() + 1);
    }
}
