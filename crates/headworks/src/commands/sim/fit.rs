//! `headworks sim fit`, and `headworks sim --from`: models of what was measured.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use record::Kind;
use sim::Model;
use sim::fit::{
    Chosen, Fit, FitOptions, LogFormat, LoggedAt, Observation, Stated, TimeTaken, fit, fit_watched,
};
use traffic::trace::Format;
use units::Span;

use super::model::ModelArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, show};
use crate::values::count;

const MEASUREMENT: &str = "Measurement";
const SERVER: &str = "Server that was measured";

/// Characterises the requests of an access log or a run of `headworks load`, and writes a model with these characteristics.
#[derive(Debug, clap::Args)]
pub(super) struct FitArgs {
    /// An access log, or the directory of a run (`load --out`, `watch --out`).
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
    #[arg(long, value_name = "FILE", help_heading = output::HEADING)]
    out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long, help_heading = output::HEADING)]
    json: bool,
}

/// How to look at a measurement.
#[derive(Debug, clap::Args)]
struct LookArgs {
    /// The length of the windows in which the rate ought to be constant, the number of the one that the model is to be of, or `all`; a length and one of the others with a comma between them (default: 1h, the busiest).
    #[arg(long, value_name = "SPAN|N|all", help_heading = MEASUREMENT, default_value = "1h", value_parser = windows)]
    window: Windows,
    /// The unit of the number that each line of a log ends in, where that is how long the request took: s, ms or us, as Apache's %D (default: s where it has three decimals, as nginx's $request_time).
    #[arg(long, value_name = "UNIT", help_heading = MEASUREMENT, value_parser = time_taken)]
    time_taken: Option<TimeTaken>,
    /// What the time of each line of a log is: begin, when the request came, as Apache's %t; or end, when it was done (default: end where the line ends in nginx's $request_time, for nginx writes it then, and begin otherwise).
    #[arg(long, value_name = "WHEN", help_heading = MEASUREMENT, value_parser = logged_at)]
    logged: Option<LoggedAt>,
    /// What the lines of a log are, where that is not recognised: common, json, w3c, cloudfront, alb, elb, haproxy, or a format as in nginx's log_format or Apache's LogFormat.
    #[arg(long, value_name = "FORMAT", help_heading = MEASUREMENT)]
    log_format: Option<Format>,
}

/// Where the model comes from, if not from a file.
#[derive(Debug, clap::Args)]
pub(super) struct FromArgs {
    /// Fit the model to an access log or the directory of a run, as `sim fit` does.
    #[arg(long, value_name = "LOG|RUN", help_heading = MEASUREMENT, conflicts_with = "model")]
    from: Option<PathBuf>,
    /// As in `sim fit`.
    #[arg(long, value_name = "SPAN|N|all", help_heading = MEASUREMENT, default_value = "1h", requires = "from", value_parser = windows)]
    window: Windows,
    /// As in `sim fit`.
    #[arg(long, value_name = "UNIT", help_heading = MEASUREMENT, value_parser = time_taken, requires = "from")]
    time_taken: Option<TimeTaken>,
    /// As in `sim fit`.
    #[arg(long, value_name = "WHEN", help_heading = MEASUREMENT, value_parser = logged_at, requires = "from")]
    logged: Option<LoggedAt>,
    /// As in `sim fit`.
    #[arg(long, value_name = "FORMAT", help_heading = MEASUREMENT, requires = "from")]
    log_format: Option<Format>,
}

/// How long windows are, and which of them count.
#[derive(Debug, Clone, Copy)]
struct Windows {
    length: Span,
    chosen: Chosen,
}

fn windows(text: &str) -> Result<Windows, String> {
    let mut windows = Windows { length: Span::from_secs(3600), chosen: Chosen::Busiest };
    for part in text.split(',') {
        match (part, part.parse::<usize>()) {
            ("all", _) => windows.chosen = Chosen::All,
            // A length has a unit.
            (_, Ok(number)) => windows.chosen = Chosen::Number(number),
            _ => windows.length = part.parse().map_err(|why: units::ParseError| why.to_string())?,
        }
    }
    if windows.length.is_zero() {
        return Err("a window of 0 has no requests; give a time above 0, such as 1h".to_owned());
    }
    Ok(windows)
}

fn logged_at(text: &str) -> Result<LoggedAt, String> {
    match text {
        "begin" => Ok(LoggedAt::Begin),
        "end" => Ok(LoggedAt::End),
        _ => Err("expected begin or end".to_owned()),
    }
}

fn time_taken(text: &str) -> Result<TimeTaken, String> {
    match text {
        "s" => Ok(TimeTaken::Seconds),
        "ms" => Ok(TimeTaken::Millis),
        "us" => Ok(TimeTaken::Micros),
        _ => Err("expected s, ms or us".to_owned()),
    }
}

/// What is known of the server that was measured.
struct Known {
    processors: u32,
    threads: Option<u32>,
    stated: Stated,
}

impl LookArgs {
    fn fit(&self, source: &Path, known: Known) -> Result<Fit, Failure> {
        let Known { processors, threads, stated } = known;
        let Windows { length: window, chosen } = self.window;
        let options = FitOptions { window, chosen, processors, threads, stated };
        let observation = if source.is_dir() {
            if self.time_taken.is_some() || self.logged.is_some() || self.log_format.is_some() {
                return Err(Failure::Usage(anyhow!(
                    "--time-taken, --logged and --log-format are about logs, and {} is the directory of a run",
                    source.display()
                )));
            }
            if Kind::of(source) == Some(Kind::Watch) {
                return fit_watched(source, &options).map_err(|why| Failure::Usage(why.into()));
            }
            Observation::of_run(source)
        } else {
            let (time_taken, logged_at) =
                (self.time_taken.unwrap_or_default(), self.logged.unwrap_or_default());
            Observation::of_log(source, LogFormat { lines: self.log_format.clone(), time_taken, logged_at })
        };
        let observation = observation.map_err(|why| Failure::Usage(why.into()))?;
        fit(&observation, &options).map_err(|why| Failure::Usage(why.into()))
    }
}

impl FitArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        if self.static_time.is_some_and(Span::is_zero)
            || self.dynamic_cost.is_some_and(|cost| cost.is_nan() || cost <= 0.0)
        {
            return Err(Failure::Usage(anyhow!("--static-time and --dynamic-cost must be above 0")));
        }
        let stated =
            Stated { static_time: self.static_time.map(Span::as_secs_f64), dynamic_cost: self.dynamic_cost };
        let known = Known { processors: self.processors, threads: self.threads, stated };
        let fit = self.look.fit(&self.source, known)?;
        if let Some(out) = &self.out {
            let (model, notes) = fit.model().map_err(|why| Failure::Usage(why.into()))?;
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
        // A model that does not show what it was fitted to.
        Ok(if fit.check.is_none_or(|check| check.agrees) { Exit::Ok } else { Exit::NotValid })
    }
}

impl FromArgs {
    /// The model of a measurement, of a file, or of the command line alone; what is given there counts for more.
    pub(super) fn model(&self, args: &ModelArgs) -> Result<Model, Failure> {
        Ok(self.model_and_fit(args)?.0)
    }

    /// The model, and what was measured if it is of that.
    pub(super) fn model_and_fit(&self, args: &ModelArgs) -> Result<(Model, Option<Fit>), Failure> {
        let Some(source) = &self.from else { return Ok((args.model()?, None)) };
        let look = LookArgs {
            window: self.window,
            time_taken: self.time_taken,
            logged: self.logged,
            log_format: self.log_format.clone(),
        };
        let stated =
            Stated { static_time: args.static_time.map(Span::as_secs_f64), dynamic_cost: args.dynamic_cost };
        let known = Known { processors: args.processors.unwrap_or(1), threads: args.threads, stated };
        let fit = look.fit(source, known)?;
        for remark in &fit.remarks {
            eprintln!("note: {remark}");
        }
        let (model, _) = fit.model().map_err(|why| Failure::Usage(why.into()))?;
        Ok((args.over(model)?, Some(fit)))
    }
}
