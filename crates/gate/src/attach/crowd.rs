//! [`Crowd`]: more connections than the server takes at a time, most of them kept ones on which nothing is asked.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::attached::Attached;

/// Whether connections wait that no process takes. Its processes give kept ones back then, and for a while, for others to be taken.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    /// One more each time that this was found.
    found: Cell<u32>,
    last: Cell<Option<Instant>>,
}

impl Crowd {
    /// Those that are kept after it are as many again, if there are as many clients still.
    const LASTS: Duration = Duration::from_secs(30);
    /// Servers all of whose connections are busy are not to look again and again.
    const AT_MOST_EVERY: Duration = Duration::from_millis(5);

    fn is_there(&self) -> bool {
        self.last.get().is_some_and(|last| last.elapsed() < Self::LASTS)
    }

    /// What processes are told: 0 where there is none.
    pub(super) fn number(&self) -> u32 {
        if self.last.get().is_some() { self.found.get() } else { 0 }
    }
}

impl Attached {
    /// A connection has waited for so long for a process.
    pub(super) fn is_hungry(&self, since: Duration) {
        /// A process that is busy with something else wants one again by then.
        const AT_ONCE: Duration = Duration::from_millis(20);
        if since >= AT_ONCE || self.crowd.is_there() {
            self.is_crowded();
        }
    }

    /// Processes have as many connections as they take: they are to give back those on which nothing is asked.
    pub(super) fn is_crowded(&self) {
        let crowd = &self.crowd;
        if crowd.last.get().is_some_and(|last| last.elapsed() < Crowd::AT_MOST_EVERY) {
            return;
        }
        crowd.last.set(Some(Instant::now()));
        crowd.found.set(crowd.found.get().wrapping_add(1).max(1));
        for process in self.processes.borrow().values() {
            process.words().set_crowd(crowd.number());
            if process.words().has_many() && !process.is_willing() {
                process.go(u32::MAX);
            }
        }
    }

    /// It may be over.
    pub(super) fn recount_crowd(&self) {
        if self.crowd.number() != 0 && !self.crowd.is_there() {
            self.crowd.last.set(None);
            self.processes.borrow().values().for_each(|process| process.words().set_crowd(0));
        }
    }
}
