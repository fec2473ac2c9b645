//! What can be computed without chance: oracles for the simulator, and answers in their own right.

mod birth_death;
mod error;
mod impatient;
mod quasi_birth_death;
mod solution;
mod solve;

pub use self::error::ExactError;
pub use self::solution::{Method, Solution};
pub use self::solve::solve;
