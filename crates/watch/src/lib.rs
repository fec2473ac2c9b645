//! Watches a web server and its kernel, without a change to either: what Webmonitor (1997) measured with
//! system calls of its own, measured by eBPF where that is allowed, and from `/proc` where it is not.
//!
//! One folder for each group of figures, with the kernel's half (`*.bpf.c`), the user's half and the names of
//! its metrics together: [`kernel`], [`processes`], [`network`], [`connections`],
//! [`limits`], [`counts`], [`requests`].

#[macro_use]
mod bpf;

mod addresses;
mod choice;
mod clock;
pub mod connections;
pub mod costs;
pub mod counts;
pub mod doctor;
mod error;
mod figures;
mod groups;
mod kept;
pub mod kernel;
pub mod limits;
mod monitor;
mod names;
mod netlink;
pub mod network;
mod overhead;
pub mod processes;
mod processors;
pub mod profile;
pub mod read;
mod recording;
pub mod requests;
mod servers;
mod session;
mod settings;
mod show;
mod snapshot;
mod source;
mod subject;
mod summary;
mod table;
mod whose;

pub use addresses::Addresses;
pub use choice::{Chosen, Mechanism};
pub use error::Error;
pub use groups::{Group, Groups};
pub use kept::{BadThreshold, Keep, MAX_KEEP, MIN_KEEP, Threshold};
pub use monitor::Monitor;
pub use overhead::Overhead;
pub use recording::Recording;
pub use session::{Watch, WatchOutcome};
pub use settings::{
    BadGroupOption, GroupOption, MIN_INTERVAL, Settings, check_ports, check_programs, check_sockets,
};
pub use show::viewers::Viewers;
pub use snapshot::{Setting, Snapshot, Totals};
pub use source::Source;
pub use subject::{Note, Options};
pub use summary::Summary;
pub use table::KERNEL_HEADING;
pub use whose::{NoOrigin, Origin, Roots, Whose};
