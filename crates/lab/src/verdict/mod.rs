//! The verdict: which resource is the bottleneck, and why. It is told nothing but the record.

pub(crate) mod again;
mod alternating;
mod candidates;
pub(crate) mod confirmed;
pub(crate) mod judge;
pub(crate) mod laws;
mod level;
pub(crate) mod levels;
pub(crate) mod levers;
mod log;
pub(crate) mod of_loads;
mod remedy;
mod resources;
mod signs;
mod stalled;
mod stalls;
