//! [`Capacity`] and [`Test`]: how the load is known, and how long it is offered.

use units::{Rate, Span};

use super::search::SearchSpec;

/// How long each test takes; a search has times of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Test {
    pub(crate) warmup: Span,
    pub(crate) duration: Span,
    /// The longest wait for the machine to come to rest before a test.
    pub(crate) settle: Span,
}

/// How the load that the levels multiply is known.
#[derive(Debug, Clone)]
pub(crate) enum Capacity {
    /// It was stated.
    Stated(Rate),
    /// Found by a closed loop of so many sessions that never pause.
    ClosedLoop { concurrency: u32, warmup: Span, duration: Span },
    /// It is what the experiment is about: each test finds it.
    Searched(SearchSpec),
}
