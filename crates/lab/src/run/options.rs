//! [`Options`]: what an experiment is started with, and [`Finished`]: what came of it.

use std::path::PathBuf;

use record::experiment::{Experiment, TestState};

use crate::spec::read::seed;

/// What an experiment is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The spec's file.
    pub spec: PathBuf,
    /// What `--set` changes in it, as `key=value`.
    pub settings: Vec<String>,
    /// Where the record goes; `runs/NAME-TIME` when left out.
    pub out: Option<PathBuf>,
    /// Seed of arrivals and of the order of tests; left out, that of the record that is repeated, or 1.
    pub seed: Option<u64>,
    /// The `headworks` program, which is server, gate and generator.
    pub headworks: PathBuf,
    /// Its version.
    pub version: String,
    /// Its command line, for the record.
    pub command: Vec<String>,
    /// Whether to show no progress.
    pub quiet: bool,
}

impl Options {
    pub(crate) fn seed(&self) -> u64 {
        self.seed.or_else(|| seed(&self.spec)).unwrap_or(1)
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Finished {
    /// Where the record is.
    pub directory: PathBuf,
    /// Its index.
    pub experiment: Experiment,
}

impl Finished {
    /// Whether every test that was done counts.
    pub fn is_valid(&self) -> bool {
        self.experiment.tests.iter().all(|test| test.state == TestState::Measured)
    }
}
