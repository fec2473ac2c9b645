//! [`Open`]: how many of something are open.

use std::cell::Cell;
use std::rc::Rc;

/// Counts a connection for as long as its task runs.
#[derive(Debug)]
pub(crate) struct Open(Rc<Cell<usize>>);

impl Open {
    pub(crate) fn new(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
