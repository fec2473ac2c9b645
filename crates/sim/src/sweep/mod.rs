//! Sweeps: one model at every point of a grid of its parameters.
//!
//! A spec names a base model, curves and a grid; each of its points is a pure function of the spec
//! and is written as soon as it is known. So a sweep that is interrupted goes on where it stopped,
//! and shares of it can be computed by several processes in one directory.

mod error;
mod run;
mod settings;
mod spec;

pub use self::error::SweepError;
pub use self::run::{NoShard, Options, Progress, Shard, imprecise, run};
pub use self::spec::Spec;
