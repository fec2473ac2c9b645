//! Searches for capacity: what a server keeps up with at each level of what was varied, and what sets it.

mod charts;
pub(crate) mod effects;
pub(crate) mod model;
mod read;
mod terminal;
