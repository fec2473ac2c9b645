//! [`AbandonedRequests`]: requests whose client has gone while the server works on them.
//!
//! The server does not know and goes on, so the request keeps its place until the response begins;
//! otherwise the window would let more into the server than it says.

use std::cell::RefCell;
use std::pin::Pin;

use crate::runtime::notify::Notify;

type Rest = Pin<Box<dyn Future<Output = ()>>>;

/// Requests without a client, waiting for a task that sees them to their end.
#[derive(Default)]
pub(crate) struct AbandonedRequests {
    waiting: RefCell<Vec<Rest>>,
    added: Notify,
}

impl std::fmt::Debug for AbandonedRequests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AbandonedRequests").finish_non_exhaustive()
    }
}

impl AbandonedRequests {
    /// Takes one over. It may come from a destructor at any time, even when the event loop is
    /// being taken down and no task can be started any more.
    pub(crate) fn add(&self, rest: Rest) {
        self.waiting.borrow_mut().push(rest);
        self.added.notify();
    }

    /// Gives each a task.
    pub(crate) async fn run(&self) {
        loop {
            self.added.notified().await;
            for rest in self.waiting.take() {
                tokio::task::spawn_local(rest);
            }
        }
    }
}
