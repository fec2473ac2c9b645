//! The simulator: what came out of a single simulation, or along the curves of sweeps, and whether it
//! is what a paper says.

mod checks;
mod curves;
pub(crate) mod model;
mod paper;
mod read;
mod replication;
mod single;
mod summary;
mod sweep;
mod terminal;
mod words;
