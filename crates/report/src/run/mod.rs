//! One run of the load generator: everything that its page shows, from its record alone.
//!
//! The requests are read row by row and never held: what is kept of them is histograms, one for
//! each phase, step, stretch of time and frequent URL, so that memory does not grow with the run.

mod facts;
mod headline;
mod model;
mod read;
mod requests;
mod sizes;
mod steps;
mod terminal;
mod timeline;
mod urls;

use std::path::{Path, PathBuf};

pub use model::{
    Distribution, Held, Percentiles, RunReport, SizeField, Step, StepPhase, Steps, Timeline, UrlRow, Urls,
};

use crate::Error;

/// Writes `report.html` into the directory of a run of the load generator and returns its path.
/// An older report is replaced in one step.
///
/// # Errors
/// When the directory holds no run, its record cannot be read, or the file cannot be written.
pub fn run(directory: &Path) -> Result<PathBuf, Error> {
    RunReport::read(directory)?.write(directory)
}
