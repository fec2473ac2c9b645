//! `headworks lab`: experiments.

mod capacity;
mod compare;
mod plan;
mod verdict;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use record::experiment;
use record::search::{Capacity, Found};
use report::Document;

use super::signals;
use crate::exit::{Exit, Failure, tell};

/// Does experiments: finds what a server carries and what sets that, and offers it more, bare and behind the gate.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run(Run),
    Plan(plan::Args),
    Capacity(capacity::Args),
    Verdict(verdict::Args),
    Compare(compare::Args),
    /// Prints the JSON Schema of specs, for editors.
    Schema,
}

/// Does the experiment that a spec describes, and leaves a record of it and a report.
///
/// An experiment that was interrupted goes on where it stopped when it is started again with the same spec and --out.
#[derive(Debug, clap::Args)]
struct Run {
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
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Command::Run(run) => run.run(),
            Command::Plan(plan) => plan.run(),
            Command::Capacity(capacity) => capacity.run(),
            Command::Verdict(verdict) => verdict.run(),
            Command::Compare(compare) => compare.run(),
            Command::Schema => schema().map(|()| Exit::Ok).map_err(Failure::Failed),
        }
    }
}

impl Run {
    fn run(self) -> Result<Exit, Failure> {
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

/// How a command ends that an error of the lab ended.
fn broken_off(error: lab::Error) -> Result<Exit, Failure> {
    if matches!(error, lab::Error::NotTheServers(_)) {
        tell(error);
        return Ok(Exit::NotValid);
    }
    Err(Failure::new(error.is_usage(), error))
}

fn options(spec: PathBuf, settings: Vec<String>, seed: Option<u64>) -> anyhow::Result<lab::Options> {
    Ok(lab::Options {
        spec,
        settings,
        out: None,
        seed,
        headworks: std::env::current_exe().context("cannot find this program's own file")?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: super::command_line(),
        quiet: false,
    })
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
        experiment.tests.iter().find_map(|test| Some((&test.directory, &test.knee.as_ref()?.directory)));
    let verdict = if let Some((test, place)) = search {
        let place = Path::new(test).join(place);
        let found = Found::load(&directory.join(&place))?;
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

fn schema() -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{:#}", lab::schema()).context("cannot write to standard output")
}

/// Turns SIGINT and SIGTERM into the wish to end. The second one ends at once: the kernel then ends
/// the programs that the lab has started.
fn stop_on_signals(stop: &lab::Stop) -> anyhow::Result<()> {
    let stop = stop.clone();
    signals::on_each(move |signal| {
        if stop.signal().is_some() {
            std::process::exit(128 + i32::from(signal));
        }
        stop.because_of(signal);
    })
}
