//! [`Bell`]: wakes one task of this thread, as often as it is rung while that task is away.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// One task waits; any number ring. Rings between two waits count as one.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl Bell {
    pub(crate) fn ring(&self) {
        self.rung.set(true);
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    /// Until it rings, or at once if it has since the last call.
    pub(crate) async fn wait(&self) {
        poll_fn(|cx| {
            if self.rung.take() {
                return Poll::Ready(());
            }
            keep_waker(&self.waiting, cx.waker());
            Poll::Pending
        })
        .await;
    }
}

/// Keeps `waker` unless one for the same task is there already, which saves the reference count.
pub(crate) fn keep_waker(slot: &RefCell<Option<Waker>>, waker: &Waker) {
    let mut slot = slot.borrow_mut();
    match slot.as_mut() {
        Some(kept) => kept.clone_from(waker),
        None => *slot = Some(waker.clone()),
    }
}
