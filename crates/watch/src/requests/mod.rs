//! What each request costs an unmodified server: the paper's server module (section 4.2).
//!
//! `traced` has the programs in the kernel, `windows` says when they look, `counting` counts all requests besides,
//! `tally` sums up what they tell, and [`Requests`] puts that together. There is no other way to see this than by
//! programs in the kernel.

mod calibration;
mod calls;
mod classes;
mod counting;
mod distribution;
mod finished;
mod follow;
mod metrics;
mod parts;
mod tally;
mod traced;
mod windows;

pub(crate) use calibration::{AttachPoint, try_out};
pub(crate) use classes::by_size;
pub use classes::{BadClasses, Classes, MAX_CLASSES};
pub(crate) use counting::Busy;
pub use distribution::{Distribution, Intervals};
pub use finished::{Finished, Usage};
pub use follow::{Following, Requests};
pub use metrics::{Clocks, Demands, Followed, RateIntervals, Rates, Waits};
pub(crate) use tally::OfClass;
pub use tally::{Counts, Tally};
pub use windows::Budget;

pub use crate::servers::{Server, find};

/// Ports that can be watched at once.
pub const MAX_PORTS: usize = crate::connections::MAX_PORTS;
