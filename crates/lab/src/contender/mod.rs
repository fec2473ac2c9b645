//! What stands in front of the server in a test: the gate, or other software in its place.

pub(crate) mod front;
pub(crate) mod gate;
pub(crate) mod proxy;
mod series;
