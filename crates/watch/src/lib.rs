//! Watches a web server and its kernel, without a change to either: what Webmonitor (1997) measured with
//! system calls of its own, measured by eBPF where that is allowed, and from `/proc` where it is not.
//!
//! One folder for each group of figures, with the kernel's half (`*.bpf.c`), the user's half and the names of
//! its metrics together: [`kernel`], [`processes`], [`network`], [`connections`],
//! [`limits`], [`requests`].

#[macro_use]
mod bpf;
mod choice;
mod clock;
pub mod connections;
pub mod costs;
pub mod doctor;
mod error;
mod figures;
mod groups;
pub mod kernel;
pub mod limits;
mod monitor;
pub mod network;
pub mod processes;
mod recording;
pub mod requests;
mod session;
mod settings;
mod show;
mod table;

pub use choice::{Chosen, Mechanism};
pub use error::Error;
pub use groups::{Group, Groups};
pub use monitor::{Monitor, Summary};
pub use recording::Recording;
pub use session::{Note, Options, Outcome, Overhead, Watch};
pub use settings::{BadGroupOption, GroupOption, LEAST_INTERVAL, Settings, check_ports, check_programs};
pub use show::{Glance, Setting, Show, Totals};

/// Where a group's samples come from.
pub trait Source {
    /// What a sample holds: sums since the machine was started, or since the source was opened.
    type Sample;

    /// Takes a sample.
    ///
    /// # Errors
    /// When the kernel does not give it.
    fn sample(&mut self) -> Result<Self::Sample, Error>;
}
