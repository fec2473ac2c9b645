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
    /// Only where there is room: what an operator changes costs no request that waits its place.
    WhereRoomIs,
}
