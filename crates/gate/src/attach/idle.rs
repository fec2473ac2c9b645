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
    /// With more it is looked which of them are still idle.
    most: Cell<usize>,
}

impl Idle {
    /// Nothing is asked on a connection from now on.
    pub(super) fn begins(&self, slot: u32, served: &mut Served) {
        self.over.set(self.over.get() + 1);
        served.idle_since = self.over.get();
        self.since.borrow_mut().push_back((slot, served.idle_since));
    }

    /// Forgets those that something else has become of: at the front at once, further back when they may be half of all.
    pub(super) fn keep_only(&self, is_idle: impl Fn((u32, u64)) -> bool) {
        const FEW: usize = 256;
        let mut since = self.since.borrow_mut();
        while since.front().is_some_and(|first| !is_idle(*first)) {
            since.pop_front();
        }
        if since.len() > FEW.max(self.most.get()) {
            since.retain(|idle| is_idle(*idle));
            self.most.set(2 * since.len());
        }
    }
}
