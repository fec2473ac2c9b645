//! The load generator as a process, and what its record says of each part of a run.

pub(crate) mod backlog;
pub(crate) mod generator;
pub(crate) mod part;
