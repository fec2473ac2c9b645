//! [`Notify`]: wakes one task of this thread.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// One task waits; any number of others notify it. Notifications between two waits count as one.
#[derive(Debug, Default)]
pub(crate) struct Notify {
    notified: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl Notify {
    pub(crate) fn notify(&self) {
        self.notified.set(true);
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    /// Completes at the next notification, or at once if there was one since the last call.
    pub(crate) async fn notified(&self) {
        poll_fn(|cx| {
            if self.notified.take() {
                return Poll::Ready(());
            }
            keep_waker(&self.waiting, cx.waker());
            Poll::Pending
        })
        .await;
    }
}

/// Keeps `waker`. If the waker kept before wakes that task already, no reference count is touched.
pub(crate) fn keep_waker(slot: &RefCell<Option<Waker>>, waker: &Waker) {
    let mut slot = slot.borrow_mut();
    match slot.as_mut() {
        Some(kept) => kept.clone_from(waker),
        None => *slot = Some(waker.clone()),
    }
}
