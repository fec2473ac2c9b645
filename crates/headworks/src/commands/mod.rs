//! One file or folder for each subcommand: its options, and the call into the tool's crate.

pub(crate) mod attach;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod gate;
pub(crate) mod lab;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod origin;
pub(crate) mod report;
pub(crate) mod sim;
pub(crate) mod top;
pub(crate) mod watch;
