//! [`Crowd`]: more connections than the server takes at a time, most of them kept ones on which nothing is asked.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Whether connections wait that no process of a group takes. Its processes give kept ones back then, and for a while, for others to be taken.
#[derive(Debug)]
pub(super) struct Crowd {
    /// What processes are told: another number each time that connections were found to wait.
    number: Cell<u32>,
    last: Cell<Option<Instant>>,
}

impl Default for Crowd {
    fn default() -> Self {
        // Not the numbers of the gate before.
        Self { number: Cell::new(std::process::id() << 10), last: Cell::new(None) }
    }
}

impl Crowd {
    /// Those that are kept after it are as many again, if there are as many clients still.
    const LASTS: Duration = Duration::from_secs(30);
    /// A process that is busy with something else wants a connection again by then.
    pub(super) const SOON: Duration = Duration::from_millis(20);
    /// Servers all of whose connections are busy are not to look again and again.
    const AT_MOST_EVERY: Duration = Duration::from_millis(5);

    pub(super) fn is_there(&self) -> bool {
        self.last.get().is_some_and(|last| last.elapsed() < Self::LASTS)
    }

    /// 0 without one.
    pub(super) fn number(&self) -> u32 {
        if self.last.get().is_some() { self.number.get() } else { 0 }
    }

    /// Whether it was there, and is over now.
    pub(super) fn ends(&self) -> bool {
        let ends = self.last.get().is_some() && !self.is_there();
        if ends {
            self.last.set(None);
        }
        ends
    }

    /// Connections wait; whether processes are to be told so.
    pub(super) fn is_found(&self) -> bool {
        if self.last.get().is_some_and(|last| last.elapsed() < Self::AT_MOST_EVERY) {
            return false;
        }
        self.last.set(Some(Instant::now()));
        self.number.set(self.number.get().wrapping_add(1).max(1));
        true
    }
}
