//! The one place that starts servers and programs to be measured, waits until they are ready, keeps
//! what they write, and leaves nothing behind: processes, free ports, directories, processors,
//! networks and control groups of their own.
//!
//! From low to high: [`Error`], [`Stop`] and [`Cpus`]; programs, ports and directories; [`Process`],
//! [`run()`] and [`account`]; [`Pinning`]; networks and control groups; [`Testbed`]; servers.

pub mod account;
mod bed;
mod control_group;
mod cpus;
mod directory;
mod error;
mod leftovers;
mod mounts;
mod network;
mod pinning;
mod port;
mod process;
mod program;
mod resources;
mod rest;
mod run;
mod server;
mod software;
mod stop;
mod time_wait;
mod wait;

pub use bed::Testbed;
pub use cpus::{Cpus, NoCpus};
pub use directory::directory;
pub use error::Error;
pub use leftovers::sweep;
pub use network::isolation::Isolation;
pub use pinning::Pinning;
pub use port::{free_addresses, free_port, retried};
pub use process::Process;
pub use program::{is_program, program};
pub use resources::{Limits, Link, Resources, Sysctl};
pub use rest::settle;
pub use run::{Ended, output, quote, run, says, show, succeeds};
pub use server::{Server, Setup};
pub use software::apache::{APACHE_MODULES, Apache, Mpm};
pub use software::kind::Software;
pub use software::nginx::Nginx;
pub use stop::Stop;
