//! What the kernel as a whole does: the paper's `my_get_kstats` (section 4.1).
//!
//! [`Traced`] reads it by a program in the kernel, [`Proc`] from `/proc`.

mod metrics;
mod proc;
mod sample;
mod traced;

pub use metrics::{Rates, rates};
pub use proc::Proc;
pub use sample::Sample;
pub use traced::Traced;
