//! [`Progress`]: what is under way in a thread, and whether the measuring window is over for it.

use std::cell::Cell;
use std::rc::Rc;

use record::Window;
use units::Time;

/// Sessions, or requests that stand alone, under way at once in a thread. What the schedule
/// wants beyond waits, and shows as lag: a generator that fell behind must not take all memory
/// to catch up.
const MAX_RUNNING: usize = 100_000;

/// Counts what begins and ends.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) window: Window,
    running: Cell<usize>,
    /// Of those running, the ones that began in the window.
    unfinished: Cell<u64>,
    /// Whether everything that the schedule wants in the window has begun.
    issued: Cell<bool>,
    /// How many may still begin.
    left: Cell<u64>,
}

impl Progress {
    /// Nothing has begun, and so many may.
    pub(crate) fn new(window: Window, most: u64) -> Self {
        Self {
            window,
            running: Cell::new(0),
            unfinished: Cell::new(0),
            issued: Cell::new(false),
            left: Cell::new(most),
        }
    }

    /// Takes one of those that may still begin, unless all have.
    pub(crate) fn take(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Whether more may begin.
    pub(crate) fn has_more(&self) -> bool {
        self.left.get() > 0
    }

    /// Whether all that may begin has begun and ended.
    pub(crate) fn is_used_up(&self) -> bool {
        self.left.get() == 0 && self.running.get() == 0
    }

    pub(crate) fn running(&self) -> usize {
        self.running.get()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.running.get() >= MAX_RUNNING
    }

    /// Counts something that the schedule wanted at `intended`, as long as the guard lives.
    pub(crate) fn follow(self: &Rc<Self>, intended: Time) -> Followed {
        self.running.set(self.running.get() + 1);
        let inside = self.window.contains(intended);
        self.unfinished.set(self.unfinished.get() + u64::from(inside));
        Followed { progress: Rc::clone(self), inside }
    }

    /// Everything that the schedule wants in the window has begun.
    pub(crate) fn set_issued(&self) {
        self.issued.set(true);
    }

    pub(crate) fn is_issued(&self) -> bool {
        self.issued.get()
    }

    /// Whether all that the schedule wants in the window has begun and ended.
    pub(crate) fn is_settled(&self) -> bool {
        self.issued.get() && self.unfinished.get() == 0
    }
}

/// Something under way.
#[derive(Debug)]
pub(crate) struct Followed {
    progress: Rc<Progress>,
    inside: bool,
}

impl Drop for Followed {
    fn drop(&mut self) {
        let progress = &self.progress;
        progress.running.set(progress.running.get() - 1);
        progress.unfinished.set(progress.unfinished.get() - u64::from(self.inside));
    }
}
