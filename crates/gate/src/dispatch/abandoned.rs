//! [`Orphans`]: requests whose client has gone while the server works on them.
//!
//! The server does not know and goes on, so the request keeps its place until the response is
//! over; otherwise the window would let more into the server than it says.

use std::cell::RefCell;
use std::pin::Pin;

use crate::runtime::notify::Bell;

type Rest = Pin<Box<dyn Future<Output = ()>>>;

/// Requests without a client, waiting for a task that sees them to their end.
#[derive(Default)]
pub(crate) struct Orphans {
    waiting: RefCell<Vec<Rest>>,
    bell: Bell,
}

impl std::fmt::Debug for Orphans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Orphans").finish_non_exhaustive()
    }
}

impl Orphans {
    /// Takes one over. It may come from a destructor at any time, even when the event loop is
    /// being taken down and no task can be started any more.
    pub(crate) fn adopt(&self, rest: Rest) {
        self.waiting.borrow_mut().push(rest);
        self.bell.ring();
    }

    /// Gives each a task.
    pub(crate) async fn look_after(&self) {
        loop {
            self.bell.wait().await;
            for rest in self.waiting.take() {
                tokio::task::spawn_local(rest);
            }
        }
    }
}
