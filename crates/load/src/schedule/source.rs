//! [`Source`]: what is asked for next.

use std::cell::{Cell, RefCell};

use traffic::model::Model;

use crate::client::context::ThreadContext;

/// What requests that stand alone, and users of a closed loop, ask for.
#[derive(Debug)]
pub(crate) enum Source {
    /// The plan's only object.
    Url,
    /// The plan's sessions.
    Sessions,
    /// Whatever the model draws next.
    Model(Box<RefCell<Model>>),
    /// The plan's sequence, over and over.
    Trace(Cell<usize>),
}

impl Source {
    /// Number of the object that is asked for next.
    pub(crate) fn draw(&self, thread: &ThreadContext) -> u32 {
        match self {
            Self::Model(model) => model.borrow_mut().request(),
            Self::Trace(next) => {
                let sequence = &thread.plan.sequence;
                let position = next.replace(next.get() + 1) % sequence.len().max(1);
                sequence.get(position).copied().unwrap_or(0)
            }
            Self::Url | Self::Sessions => 0,
        }
    }
}
