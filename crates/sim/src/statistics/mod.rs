//! What a number of observations says, and how surely.

mod batch_means;
mod estimate;
mod latencies;
mod mser;

pub(crate) use self::batch_means::overlapping_batch_means;
pub use self::estimate::Estimate;
pub(crate) use self::latencies::Latencies;
pub(crate) use self::mser::{BATCH, mser};
