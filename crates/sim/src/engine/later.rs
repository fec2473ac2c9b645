//! [`Later`]: what will happen when.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Things that will happen, each at its time, in seconds.
#[derive(Debug, Clone)]
pub(super) struct Later<T>(BinaryHeap<Due<T>>);

/// One of them; the earliest is the greatest.
#[derive(Debug, Clone, Copy)]
struct Due<T> {
    at: f64,
    what: T,
}

impl<T> Later<T> {
    pub(super) fn add(&mut self, at: f64, what: T) {
        self.0.push(Due { at, what });
    }

    /// When the first of them happens; infinity when there are none.
    pub(super) fn next(&self) -> f64 {
        self.0.peek().map_or(f64::INFINITY, |due| due.at)
    }

    /// The first of them.
    pub(super) fn first(&self) -> Option<&T> {
        self.0.peek().map(|due| &due.what)
    }

    /// The first of them, and when.
    pub(super) fn take(&mut self) -> Option<(f64, T)> {
        self.0.pop().map(|due| (due.at, due.what))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> Default for Later<T> {
    fn default() -> Self {
        Self(BinaryHeap::new())
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Due<T> {}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at)
    }
}
