//! A single model, simulated: what came out, and one replication over time.

use std::path::Path;

use record::RunDirectory;

use super::model::SimulationReport;
use super::summary::SimulationSummary;
use super::{replication, words};
use crate::error::Error;
use crate::method::fact::Source;

/// The report of the simulation in `directory`.
pub(super) fn read(directory: &Path) -> Result<SimulationReport, Error> {
    let run = RunDirectory::open(directory)?;
    let (info, outcome) = (run.info()?, run.outcome::<SimulationSummary>()?);
    let rows = run.samples()?.collect::<Result<Vec<_>, _>>()?;
    let outcomes = outcome.rows();
    let sources = run.model().map(|text| Source { name: "model.toml".to_owned(), text });
    Ok(SimulationReport {
        title: words::title(&info),
        version: info.version.clone(),
        verdict: words::verdict(&outcome, &outcomes),
        warnings: words::warnings(&outcome, &info),
        checks: Vec::new(),
        course: replication::of(&rows, &info, &outcomes),
        outcomes,
        figures: Vec::new(),
        method: words::facts(&outcome, &info, run.environment().ok().as_ref()),
        sources: sources.into_iter().collect(),
    })
}
