//! What goes over the network interfaces: the paper's `my_get_netstats` (section 4.1).
//!
//! Drivers keep these sums each in their own way, so a program in the kernel could not read them for all;
//! [`Proc`] asks the kernel for them.

mod metrics;
mod proc;
mod sample;

pub use metrics::{Rates, rates};
pub use proc::Proc;
pub use sample::{Direction, Interface, Sample};
