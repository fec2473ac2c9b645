//! `headworks sim fit`, and `headworks sim --from`: models of what was measured.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use sim::Model;
use sim::fit::{Fit, FitOptions, Observation, Stated, TimeTaken, fit};
use units::Span;

use super::args::OUTPUT;
use super::model::ModelArgs;
use super::show;
use crate::commands::values::count;
use crate::exit::{Exit, Failure};

const MEASUREMENT: &str = "Measurement";
const SERVER: &str = "Server that was measured";

/// Characterises the requests of an access log or a run of `headworks load`, and writes a model that has the same.
#[derive(Debug, clap::Args)]
pub(super) struct FitArgs {
    /// An access log, or the directory of a run (`load --out`).
    #[arg(value_name = "LOG|RUN")]
    source: PathBuf,
    #[command(flatten)]
    look: LookArgs,
    /// Processors that it had.
    #[arg(long, value_name = "N", help_heading = SERVER, default_value = "1", value_parser = count::<u32>(1..=10_000))]
    processors: u32,
    /// Requests that it worked on at a time, where there was a limit.
    #[arg(long, value_name = "N", help_heading = SERVER, value_parser = count::<u32>(1..=1_000_000))]
    threads: Option<u32>,
    /// Processor time that a static request needs, where the log does not tell.
    #[arg(long, value_name = "SPAN", help_heading = SERVER)]
    static_time: Option<Span>,
    /// How many times as much a dynamic request needs, where the log does not tell.
    #[arg(long, value_name = "T", help_heading = SERVER)]
    dynamic_cost: Option<f64>,
    /// Write a model file for `sim --model`.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// How to look at a measurement.
#[derive(Debug, clap::Args)]
struct LookArgs {
    /// The length of the windows in which the rate ought to be constant; others are left out.
    #[arg(long, value_name = "SPAN", help_heading = MEASUREMENT, default_value = "1h")]
    window: Span,
    /// The unit of the number that each line of a log ends in, where that is how long the request took: s, ms or us, as Apache's %D (default: s where it has three decimals, as nginx's $request_time).
    #[arg(long, value_name = "UNIT", help_heading = MEASUREMENT, value_parser = time_taken)]
    time_taken: Option<TimeTaken>,
}

/// Where the model comes from, if not from a file.
#[derive(Debug, clap::Args)]
pub(super) struct FromArgs {
    /// Fit the model to an access log or the directory of a run, as `sim fit` does.
    #[arg(long, value_name = "LOG|RUN", help_heading = MEASUREMENT, conflicts_with = "model")]
    from: Option<PathBuf>,
    /// As in `sim fit`.
    #[arg(long, value_name = "SPAN", help_heading = MEASUREMENT, default_value = "1h", requires = "from")]
    window: Span,
    /// As in `sim fit`.
    #[arg(long, value_name = "UNIT", help_heading = MEASUREMENT, value_parser = time_taken, requires = "from")]
    time_taken: Option<TimeTaken>,
}

fn time_taken(text: &str) -> Result<TimeTaken, String> {
    match text {
        "s" => Ok(TimeTaken::Seconds),
        "ms" => Ok(TimeTaken::Millis),
        "us" => Ok(TimeTaken::Micros),
        _ => Err("expected s, ms or us".to_owned()),
    }
}

impl LookArgs {
    fn fit(&self, source: &Path, processors: u32, threads: Option<u32>) -> Result<Fit, Failure> {
        if self.window.is_zero() {
            return Err(Failure::Usage(anyhow!("--window is 0; give a time above 0, such as 1h")));
        }
        let observation = if source.is_dir() {
            Observation::of_run(source)
        } else {
            Observation::of_log(source, self.time_taken.unwrap_or_default())
        };
        let observation = observation.map_err(|why| Failure::Usage(why.into()))?;
        Ok(fit(&observation, &FitOptions { window: self.window, processors, threads }))
    }
}

impl FitArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let fit = self.look.fit(&self.source, self.processors, self.threads)?;
        if let Some(out) = &self.out {
            let stated = Stated {
                static_time: self.static_time.map(Span::as_secs_f64),
                dynamic_cost: self.dynamic_cost,
            };
            let (model, notes) = fit.model(stated).map_err(|why| Failure::Usage(why.into()))?;
            model.check().map_err(|why| Failure::Usage(why.into()))?;
            let text = model.to_toml(&notes).map_err(|why| Failure::Failed(why.into()))?;
            let mut file = File::create_new(out)
                .with_context(|| format!("cannot write {}; give another name or remove it", out.display()))
                .map_err(Failure::Usage)?;
            file.write_all(text.as_bytes())
                .with_context(|| format!("cannot write {}", out.display()))
                .map_err(Failure::Failed)?;
        }
        show(&fit, self.json)?;
        Ok(Exit::Ok)
    }
}

impl FromArgs {
    /// The model of a measurement, of a file, or of the command line alone; what is given there counts for more.
    pub(super) fn model(&self, args: ModelArgs) -> Result<Model, Failure> {
        let Some(source) = &self.from else { return args.model() };
        let look = LookArgs { window: self.window, time_taken: self.time_taken };
        let fit = look.fit(source, args.processors.unwrap_or(1), args.threads)?;
        for remark in &fit.remarks {
            eprintln!("note: {remark}");
        }
        let stated =
            Stated { static_time: args.static_time.map(Span::as_secs_f64), dynamic_cost: args.dynamic_cost };
        let (model, _) = fit.model(stated).map_err(|why| Failure::Usage(why.into()))?;
        args.over(model)
    }
}
