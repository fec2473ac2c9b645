//! What the gate tells of what it does: the access log, traces for a collector, and events.

pub(crate) mod access_log;
pub(crate) mod events;
pub(crate) mod trace;
