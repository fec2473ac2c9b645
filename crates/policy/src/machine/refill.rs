//! What moves next: a request that would be dispatched, and how held-back requests come into the class
//! queues.

use crate::store::Key;

/// A request that would be dispatched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Next {
    pub(super) key: Key,
    /// Whether it goes beside others because it is short.
    pub(super) aside: bool,
}

/// How held-back requests get into class queues that are full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refill {
    /// In place of less important ones, which are refused.
    Displacing,
    /// Not at all: what an operator changes costs nobody who waits the place.
    WhereRoomIs,
}
