//! [`Outcome`]: what a simulation says.

mod estimates;
mod figures;
mod tally;

pub use self::figures::{ClassOutcome, GateClassOutcome, LatencyOutcome, Outcome, Precision, TierOutcome};
pub(crate) use self::tally::{PartTotals, Parts};
