//! What a number of observations says, and how surely.

mod batch_means;
mod latencies;
mod mser;
mod ratio;
mod relaxation;

use self::batch_means::overlapping_batch_means;
pub use record::Estimate;

pub(crate) use self::latencies::Latencies;
pub(crate) use self::mser::mser;
pub(crate) use self::ratio::Parts;
pub(crate) use self::relaxation::relaxation;
