//! What tests of servers and clients need, and nothing that ships: free ports, polling with a
//! deadline, raw HTTP exchanges, child processes that end with the test, real and hostile servers.
//!
//! Every helper panics with what it was waiting for, since a panic is how a test reports.
#![allow(clippy::expect_used, reason = "only tests depend on this crate")]

mod collector;
mod hostile;
mod machine;
mod poll;
mod process;
pub mod promtool;
mod raw;
mod skip;
mod sweep;
mod terminal;
mod web;

pub use collector::Collector;
pub use hostile::Hostile;
pub use machine::{Machine, follow_memory, free_address, open_descriptors};
pub use poll::{PATIENCE, poll_until};
pub use process::Process;
pub use raw::{Raw, Response, exchange};
pub use skip::{skip, skip_here, tell};
pub use sweep::sweep;
pub use terminal::Terminal;
pub use testbed::Mpm;
pub use web::{Apache, LogLine, Nginx, identity};
