//! [`ExactError`]: why there is no exact solution.

use super::solution::Method;
use crate::model::ModelError;

/// Why there is no exact solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExactError {
    /// The model makes no sense.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No method fits.
    #[error(
        "no exact solution is known for this model; simulate it instead, or make it one of these, without links, kept connections, samples or a quota:{}",
        methods()
    )]
    NoMethod,
    /// A chain that takes too long, or too much memory.
    #[error(
        "its Markov chain has {levels} levels of up to {states} states, which is too much to compute; give a shorter queue or fewer threads, or simulate it instead"
    )]
    TooLarge {
        /// Numbers of requests that may be in the server.
        levels: u64,
        /// States with the same number, at most.
        states: u64,
    },
    /// A chain of clients that come back of which too many may be away.
    #[error(
        "its Markov chain would have to count more than {away} clients that will ask again, in {states} states each, which is too much to compute; give a smaller share that asks again, or a lower load, or simulate it instead"
    )]
    TooManyAway {
        /// Clients that will ask again.
        away: u64,
        /// States for each number of them.
        states: u64,
    },
    /// An iteration that has not come to an end.
    #[error(
        "the solution of its Markov chain has not settled after {0} sweeps: it hardly ever goes from one state to another; simulate it instead"
    )]
    NotSettled(usize),
    /// Numbers are not exact enough.
    #[error(
        "its Markov chain cannot be solved: at {level} requests its rates differ by more than numbers can tell; bring what the classes need nearer to one another, or simulate it instead"
    )]
    Singular {
        /// How many requests are in the server there.
        level: usize,
    },
}

fn methods() -> String {
    Method::ALL.map(|method| format!("\n  {}: {}", method.name(), method.needs())).concat()
}
