//! The gate as a process: what all its tasks share (`gate`), reading the configuration again, handing
//! over to another process, draining, telling systemd, giving up root's rights.

pub(crate) mod check;
pub(crate) mod circle;
pub(crate) mod credentials;
pub(crate) mod drain;
pub(crate) mod error;
pub(crate) mod explain;
pub(crate) mod gate;
pub(crate) mod handover;
pub(crate) mod heritage;
pub(crate) mod housekeeping;
pub(crate) mod privileges;
pub(crate) mod reload;
pub(crate) mod reloads;
pub(crate) mod signals;
pub(crate) mod systemd;
