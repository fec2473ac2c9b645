//! Client connections as the rest of the gate sees them: their state (`client`), who is at the other
//! end (`peer`), and all of them together (`registry`), which closes those that cost too much.

pub(crate) mod client;
pub(crate) mod incoming;
pub(crate) mod interim;
pub(crate) mod peer;
pub(crate) mod registry;
pub(crate) mod task;
