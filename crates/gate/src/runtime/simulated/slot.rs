//! [`Slot`]: what tasks of one thread share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What tasks of the one thread share. hyper wants connections that could change threads, so a lock is
/// around it, which is always free.
#[derive(Debug, Default)]
pub(super) struct Slot<T>(Mutex<T>);

impl<T> Slot<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, value: T) {
        *self.lock() = value;
    }

    pub(super) fn replace(&self, value: T) -> T {
        std::mem::replace(&mut self.lock(), value)
    }
}

impl<T: Copy> Slot<T> {
    pub(super) fn get(&self) -> T {
        *self.lock()
    }
}
