//! What the gate tells of what it does: the access log, traces for a collector, events, its last hour, whether
//! anybody suffers, what operators changed, the console that shows it, and who looks ahead.

pub(crate) mod access_log;
pub(crate) mod changes;
pub(crate) mod console;
pub(crate) mod events;
pub mod foresight;
pub(crate) mod history;
pub(crate) mod tallies;
pub(crate) mod trace;
pub(crate) mod verdict;
