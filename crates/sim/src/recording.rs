//! [`Recording`]: a simulation as a run directory.

use std::path::PathBuf;

use record::{Environment, Error, RunDirectory, RunInfo, Timestamp, Window};
use toml::{Table, Value};
use units::{Span, Time};

use crate::draw::Arrivals;
use crate::model::Model;
use crate::outcome::{Outcome, Precision};
use crate::plan::Plan;
use crate::time_series::TimeSeries;

/// Nanoseconds that a TOML file can say.
const MAX_SPAN: Span = Span::from_nanos(i64::MAX as u64);

/// The record of a simulation under way.
#[derive(Debug)]
pub struct Recording {
    directory: RunDirectory,
    info: RunInfo,
}

impl Recording {
    /// Begins a record in `directory` of what is about to be simulated; `command` is the command
    /// line that asked for it.
    ///
    /// # Errors
    /// When a run is in it, or it cannot be written.
    pub fn begin(
        directory: PathBuf,
        command: Vec<String>,
        model: &Model,
        plan: &Plan,
    ) -> Result<Self, Error> {
        let directory = RunDirectory::create(directory)?;
        let text = model_text(&directory, model)?;
        let info = RunInfo {
            tool: "sim".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            started: Timestamp::now(),
            ended: None,
            interrupted: false,
            seed: plan.seed,
            window: Window::new(Time::ZERO, Span::ZERO),
            step_unit: None,
            steps: Vec::new(),
            spec: spec(&text, plan),
        };
        directory.write_info(&info)?;
        directory.write_environment(&Environment::capture())?;
        directory.write_model(&text)?;
        Ok(Self { directory, info })
    }

    /// Writes what came out, one replication over time and a closer look at its `beginning`, and
    /// ends the record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(
        mut self,
        outcome: &Outcome,
        series: &TimeSeries,
        beginning: &TimeSeries,
    ) -> Result<(), Error> {
        let mut samples = self.directory.write_samples()?;
        for row in series.samples().chain(beginning.samples_of_beginning()) {
            samples.push(row)?;
        }
        samples.finish()?;
        self.directory.write_outcome(outcome)?;
        let [from, to] = [series.warmup, series.intervals.last().map_or(0.0, |last| last.ended)]
            .map(|seconds| Span::from_secs_f64(seconds).min(MAX_SPAN));
        self.info.window = Window::new(Time::ZERO + from, to.saturating_sub(from));
        self.info.interrupted = outcome.precision == Precision::Interrupted;
        self.info.ended = Some(Timestamp::now());
        self.directory.write_info(&self.info)
    }
}

/// The text of a model file; arrivals that were observed are written into a file beside it.
fn model_text(directory: &RunDirectory, model: &Model) -> Result<String, Error> {
    let trace = match &model.arrivals {
        Arrivals::Observed(observed) => directory.write_arrivals(&observed.lines())?,
        Arrivals::Renewal(_) | Arrivals::Mmpp(_) => "",
    };
    Ok(model.to_toml_beside(trace))
}

/// What was asked for: the model as its file has it, and the plan.
fn spec(model: &str, plan: &Plan) -> Table {
    let count = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let mut asked = Table::from_iter([
        ("requests".to_owned(), count(plan.requests)),
        ("replications".to_owned(), count(plan.replications.into())),
        ("long-run".to_owned(), Value::Boolean(plan.long_run)),
    ]);
    asked.extend(plan.warmup.map(|warmup| ("warmup".to_owned(), count(warmup))));
    asked.extend(plan.precision.map(|precision| ("precision".to_owned(), Value::Float(precision))));
    let model = model.parse().unwrap_or_default();
    Table::from_iter([("model".to_owned(), Value::Table(model)), ("plan".to_owned(), Value::Table(asked))])
}
