//! [`Idle`]: kept connections that have a process to themselves, and on which nothing is asked.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::served::Served;

/// Kept connections of processes that serve one at a time, from the one that has been without a request for longest. Where others wait for a process, one is
/// given another connection in its place.
#[derive(Debug, Default)]
pub(super) struct Idle {
    /// Slots, and since when, counted in requests that were over; of some something else has become since.
    pub(super) since: RefCell<VecDeque<(u32, u64)>>,
    over: Cell<u64>,
}

impl Idle {
    /// Nothing is asked on a connection from now on.
    pub(super) fn begins(&self, slot: u32, served: &mut Served) {
        self.over.set(self.over.get() + 1);
        served.idle_since = self.over.get();
        self.since.borrow_mut().push_back((slot, served.idle_since));
    }
}
