//! [`ForecastError`]: why nothing can be said.

use crate::model::SessionModelError;

/// Why nothing can be said.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ForecastError {
    /// Too little was seen.
    #[error(
        "too little was seen yet: {sessions} sessions in {seconds} s, of which {completed} are over; it takes 50 of them, of which 20 are over, \
         and 15 s"
    )]
    TooLittle {
        /// Sessions.
        sessions: usize,
        /// Seconds.
        seconds: u64,
        /// Sessions that were completed.
        completed: usize,
    },
    /// It was stopped before anything was known.
    #[error("the processors are too busy: there was no time to simulate a single setting")]
    TooBusy,
    /// It cannot be simulated.
    #[error(transparent)]
    Model(#[from] SessionModelError),
}
