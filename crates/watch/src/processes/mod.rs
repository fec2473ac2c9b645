//! What the processes of certain programs use: the paper's `my_get_procstats` (section 4.1).

mod metrics;
mod proc;
mod sample;
mod traced;

pub use metrics::{Rates, rates};
pub use proc::Proc;
pub(crate) use proc::names_of_processes;
pub use sample::{MAX_PROGRAMS, Program, Sample};
pub use traced::Traced;
