//! [`Arrivals`]: the points in time at which something is to start.

mod check;
mod process;
mod sequence;
#[cfg(test)]
mod tests;

pub use check::PoissonCheck;
pub use process::{Gaps, MAX_CV, Process, ProcessError};
pub use sequence::Arrivals;
