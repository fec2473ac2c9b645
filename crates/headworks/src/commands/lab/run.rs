//! `headworks lab run`: does an experiment.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use record::experiment;
use record::search::{Capacity, SearchResult};
use report::Document;

use super::common::{broken_off, options, stop_on_signals};
use crate::exit::{Exit, Failure};

/// Does the experiment that a spec describes, and leaves a record of it and a report.
///
/// An experiment that was interrupted goes on where it stopped when it is started again with the same spec and --out.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The spec, a TOML file (docs/lab.md), or the run.toml of an experiment, which is repeated then.
    spec: PathBuf,
    /// Changes one value of the spec, such as server.kind=apache; can be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Where to write the record (default: runs/NAME-TIME).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the experiment as one JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
    /// Seed of arrivals and of the order of tests (default: that of the record that is repeated, or 1).
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Args {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let stop = lab::Stop::default();
        stop_on_signals(&stop).map_err(Failure::Failed)?;
        let options = lab::Options {
            out: self.out,
            quiet: self.quiet,
            ..options(self.spec, self.settings, self.seed).map_err(Failure::Failed)?
        };
        let finished = match lab::run(&options, &stop) {
            Ok(finished) => finished,
            Err(error) => return broken_off(error),
        };
        show(&finished, self.json).map_err(Failure::Failed)?;
        Ok(match stop.signal() {
            Some(signal) => Exit::Interrupted { signal },
            None if finished.is_valid() => Exit::Ok,
            None => Exit::NotValid,
        })
    }
}

/// The report, and on standard output the table and where the report is, or the experiment as JSON.
fn show(finished: &lab::Finished, json: bool) -> anyhow::Result<()> {
    let report = Document::read(&finished.directory)?;
    let page = report.write(&finished.directory)?;
    let mut out = std::io::stdout().lock();
    let written = if json {
        writeln!(out, "{}", as_json(finished)?)
    } else {
        writeln!(out, "\n{}\nreport: {}", report.table(), page.display())
    };
    written.context("cannot write to standard output")
}

/// The experiment, and beside its own fields those by which `lab capacity` and `lab verdict` say what they have found: of
/// the first search, or of the first subject.
fn as_json(finished: &lab::Finished) -> anyhow::Result<serde_json::Value> {
    let lab::Finished { directory, experiment } = finished;
    let mut json = serde_json::to_value(experiment)?;
    let search =
        experiment.tests.iter().find_map(|test| Some((&test.directory, &test.capacity.as_ref()?.directory)));
    let verdict = if let Some((test, place)) = search {
        let place = Path::new(test).join(place);
        let found = SearchResult::load(&directory.join(&place))?;
        if let Some(Capacity { rate, ci, unit }) = found.capacity {
            let directory = place.display().to_string();
            json["capacity"] = serde_json::to_value(experiment::Capacity { rate, ci, unit, directory })?;
        }
        found.verdict
    } else {
        experiment.limits.first().map(|limit| limit.verdict.clone()).unwrap_or_default()
    };
    if let (Some(fields), serde_json::Value::Object(found)) =
        (json.as_object_mut(), serde_json::to_value(verdict)?)
    {
        fields.extend(found);
    }
    Ok(json)
}
