//! The directory of a sweep: one simulation for each point of a grid.
//!
//! | file | type |
//! | --- | --- |
//! | `sweep.json` | [`Sweep`]: what is to be simulated |
//! | `spec.toml` | the spec as it was written |
//! | `points/N.parquet` | [`PointRow`] of point N, as soon as it is known |
//! | `points.parquet` | all of them, once they are known |
//!
//! Points are written in one step and independently of one another, so that several processes, on
//! several hosts, can work on one directory.

mod directory;
mod index;
mod point;

pub use directory::SweepDirectory;
pub use index::{Link, Networks, Sweep};
pub use point::PointRow;
