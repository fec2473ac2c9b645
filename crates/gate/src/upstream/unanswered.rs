//! [`Unanswered`]: new connections on which a server has yet to answer.
//!
//! A server that gives a process or a thread to each connection, as Apache with prefork does, takes
//! no notice of one for which it has none left; the kernel accepts it anyway. Kept
//! connections have one each, and as long as they are used again and again the new one waits. So
//! when the others have been answered twice over meanwhile, one of them is closed instead of kept,
//! which frees its process. Servers that serve all connections alike have answered by then, but for
//! a few requests that take long: each costs one kept connection at most.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// The new connections to one server.
#[derive(Debug, Default)]
pub(super) struct Unanswered {
    waiting: RefCell<VecDeque<Waiting>>,
    /// Responses that have begun, on any connection.
    answers: Cell<u64>,
    begun: Cell<u64>,
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    /// So many answers are enough to say that the server does not look at it.
    due: u64,
}

impl Unanswered {
    /// So many answers more than twice the requests there.
    const MORE: u64 = 4;

    #[inline]
    pub(super) fn answered(&self) {
        self.answers.set(self.answers.get() + 1);
    }

    /// How many wait.
    pub(super) fn number(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// Whether a connection is to be closed for one that has waited too long. Each is asked for once.
    #[inline]
    pub(super) fn makes_way(&self) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        let overdue = waiting.iter().position(|waiting| waiting.due <= self.answers.get());
        overdue.is_some_and(|index| waiting.remove(index).is_some())
    }

    /// A new connection waits for its first answer; gives its number. The server has so many requests.
    pub(super) fn begin(&self, outstanding: u32) -> u64 {
        let id = self.begun.replace(self.begun.get() + 1);
        let due = self.answers.get() + 2 * u64::from(outstanding) + Self::MORE;
        self.waiting.borrow_mut().push_back(Waiting { id, due });
        id
    }

    /// It waits no longer.
    pub(super) fn end(&self, id: u64) {
        self.waiting.borrow_mut().retain(|waiting| waiting.id != id);
    }
}
