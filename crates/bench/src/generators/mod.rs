//! The load generators: how each is asked for the same load, and how its answer is read.
//!
//! Each is one thread on one processor.

pub(crate) mod ask;
pub(crate) mod generator;
pub(crate) mod h2load;
pub(crate) mod headworks;
mod hey;
mod shb;
pub(crate) mod told;
mod wrk;
