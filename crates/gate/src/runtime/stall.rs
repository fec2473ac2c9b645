//! [`Stall`]: how long a peer has kept the gate waiting.

use std::cell::Cell;

use units::{Span, Time};

/// Since when somebody has been waited for, if at all.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    since: Cell<Option<Time>>,
    moved: Cell<usize>,
}

impl Stall {
    /// A client that sends or takes a byte now and then is as good as one that does nothing, and
    /// holds a place as long. This much has to move before the waiting counts as over.
    pub(crate) const ENOUGH: usize = 4096;

    /// Still nothing.
    pub(crate) fn waits(&self, now: Time) {
        if self.since.get().is_none() {
            self.since.set(Some(now));
            self.moved.set(0);
        }
    }

    /// So many bytes moved.
    pub(crate) fn moved(&self, bytes: usize) {
        if self.since.get().is_some() {
            let moved = self.moved.get().saturating_add(bytes);
            self.moved.set(moved);
            if moved >= Self::ENOUGH {
                self.over();
            }
        }
    }

    /// Nothing is awaited any more.
    pub(crate) fn over(&self) {
        self.since.set(None);
    }

    pub(crate) fn since(&self) -> Option<Time> {
        self.since.get()
    }

    pub(crate) fn longer_than(&self, now: Time, longest: Span) -> bool {
        self.since.get().is_some_and(|since| now.since(since) > longest)
    }
}
