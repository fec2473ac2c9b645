//! What the gate's tasks stand on: the clock, waking each other, lines for the operator, sockets
//! that were passed on, the budget of memory.

pub(crate) mod clock;
pub(crate) mod connector;
pub(crate) mod inherited;
pub(crate) mod log;
pub(crate) mod memory;
pub(crate) mod net;
pub(crate) mod network;
pub(crate) mod notify;
pub(crate) mod open;
#[cfg(feature = "simulate")]
pub(crate) mod simulated;
pub(crate) mod stream;
