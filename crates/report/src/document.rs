//! [`Document`]: the report of whatever a directory holds.

use std::path::{Path, PathBuf};

use record::Kind;
use serde::Serialize;

use crate::error::Error;
use crate::experiment::model::ExperimentReport;
use crate::page;
use crate::run::model::RunReport;
use crate::search::model::SearchReport;
use crate::simulation::model::SimulationReport;
use crate::watch::model::WatchReport;

/// A report of one of the five kinds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Document {
    /// Of an experiment.
    Experiment(Box<ExperimentReport>),
    /// Of a single run of the load generator.
    Run(Box<RunReport>),
    /// Of searches for capacity.
    Search(Box<SearchReport>),
    /// Of the simulator or its sweeps.
    Simulation(Box<SimulationReport>),
    /// Of the monitor: a watch, or several side by side.
    Watch(Box<WatchReport>),
}

/// What the page is filled with: a report that says of which kind it is, since the page shows each kind in its own way.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Data<'a> {
    Experiment(&'a ExperimentReport),
    Run(&'a RunReport),
    Search(&'a SearchReport),
    Simulation(&'a SimulationReport),
    Watch(&'a WatchReport),
}

impl Document {
    /// Derives the report of the experiment, the run, the simulation, the sweeps or
    /// the watch in `directory`.
    ///
    /// # Errors
    /// When the directory holds none of them, or what it holds cannot be read.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        Ok(match Kind::of(directory) {
            Some(Kind::Search | Kind::Searches) => Self::Search(Box::new(SearchReport::read(directory)?)),
            Some(Kind::Experiment) => Self::Experiment(Box::new(ExperimentReport::read(directory)?)),
            Some(Kind::Simulation | Kind::Sweep | Kind::Sweeps) => {
                Self::Simulation(Box::new(SimulationReport::read(directory)?))
            }
            Some(Kind::Watch | Kind::Watches) => Self::Watch(Box::new(WatchReport::read(directory)?)),
            // Reading it as a run says what is missing.
            Some(Kind::Run | Kind::Prediction) | None => Self::Run(Box::new(RunReport::read(directory)?)),
        })
    }

    /// Writes it as `report.html` into `directory` and returns its path. An older report is
    /// replaced in one step.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, Error> {
        let data = match self {
            Self::Experiment(report) => Data::Experiment(report),
            Self::Run(report) => Data::Run(report),
            Self::Search(report) => Data::Search(report),
            Self::Simulation(report) => Data::Simulation(report),
            Self::Watch(report) => Data::Watch(report),
        };
        page::write(&data, directory)
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

/// Writes `report.html` into the directory of a run of the load generator and returns its path.
/// An older report is replaced in one step.
///
/// # Errors
/// When the directory holds no run, its record cannot be read, or the file cannot be written.
pub fn run(directory: &Path) -> Result<PathBuf, Error> {
    Document::Run(Box::new(RunReport::read(directory)?)).write(directory)
}
