//! [`Document`]: the report of whatever a directory holds.

use std::path::{Path, PathBuf};

use record::experiment::Experiment;
use serde::Serialize;

use crate::{Error, Report, RunReport, SearchReport, SimulationReport, WatchReport};

/// A report of one of the five kinds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Document {
    /// Of an experiment.
    Experiment(Box<Report>),
    /// Of a single run of the load generator.
    Run(Box<RunReport>),
    /// Of searches for the knee.
    Search(Box<SearchReport>),
    /// Of the simulator or its sweeps.
    Simulation(Box<SimulationReport>),
    /// Of the monitor: a watch, or several side by side.
    Watch(Box<WatchReport>),
}

impl Document {
    /// Derives the report of the experiment, the run, the simulation, the sweeps or
    /// the watch in `directory`.
    ///
    /// # Errors
    /// When the directory holds none of them, or what it holds cannot be read.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        if SearchReport::is_in(directory) {
            Ok(Self::Search(Box::new(SearchReport::read(directory)?)))
        } else if Experiment::is_in(directory) {
            Ok(Self::Experiment(Box::new(Report::read(directory)?)))
        } else if SimulationReport::is_in(directory) {
            Ok(Self::Simulation(Box::new(SimulationReport::read(directory)?)))
        } else if WatchReport::is_in(directory) {
            Ok(Self::Watch(Box::new(WatchReport::read(directory)?)))
        } else {
            Ok(Self::Run(Box::new(RunReport::read(directory)?)))
        }
    }

    /// Writes it as `report.html` into `directory` and returns its path. An older report is
    /// replaced in one step.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, Error> {
        match self {
            Self::Experiment(report) => report.write(directory),
            Self::Run(report) => report.write(directory),
            Self::Search(report) => report.write(directory),
            Self::Simulation(report) => report.write(directory),
            Self::Watch(report) => report.write(directory),
        }
    }

    /// Its short form for a terminal; each line ends with a line feed.
    pub fn table(&self) -> String {
        match self {
            Self::Experiment(report) => report.table(),
            Self::Run(report) => report.table(),
            Self::Search(report) => report.table(),
            Self::Simulation(report) => report.table(),
            Self::Watch(report) => report.table(),
        }
    }
}
