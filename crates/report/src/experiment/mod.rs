//! An experiment: repeats of each test pooled, subjects held against each other at each level of load.

mod headline;
mod measured;
pub(crate) mod model;
mod read;
mod subjects;
mod terminal;
