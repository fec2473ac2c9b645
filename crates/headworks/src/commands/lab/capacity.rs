//! `headworks lab capacity`: the highest rate that a server keeps up with.

use std::ffi::OsString;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::Context;
use lab::{Crowd, SearchOptions};
use record::search::ProbeResult;
use report::Document;
use traffic::Ramp;
use units::{Ratio, Span};

use super::common::{broken_off, stop_on_signals};
use super::found::show;
use crate::exit::{Exit, Failure};

/// Finds the highest rate that a server which runs already keeps up with, and what keeps it from more, mostly in less than a minute.
///
/// Closed loops with more and more clients say what it does in all; open loops around that rate say where what waits only grows, or an objective is missed. With --ramp all rates of a ramp are probe instead. A server on this machine is watched meanwhile, as root in most detail.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  headworks lab capacity http://127.0.0.1:8080/
  headworks lab capacity http://127.0.0.1:8080/ --objective 'p99<50ms' --cpus 1
  headworks lab capacity http://127.0.0.1:8080/ --ramp 1k:8k:200:5s -- --requests-per-connection 1")]
pub(super) struct Args {
    /// What is asked for; with a workload among the options of `headworks load`, scheme and host only.
    url: String,
    /// A bound that has to hold as well, such as 'p99<50ms'; can be given several times.
    #[arg(long, value_name = "BOUND")]
    objective: Vec<String>,
    /// How arrivals are spread over time, as `headworks load` takes it (default: constant, which says most about
    /// a rate; with --objective poisson, which is what many users are).
    #[arg(long, value_name = "PROCESS")]
    arrivals: Option<String>,
    /// How near the ends of the interval are to be.
    #[arg(long, value_name = "SHARE", default_value = lab::PRECISION, value_parser = precision)]
    precision: Ratio,
    /// Try these rates, all of them: FROM:TO:STEP:HOLD, as in 1k:8k:200:5s.
    #[arg(long)]
    ramp: Option<Ramp>,
    /// Ask with so many clients instead, each with one request after the other; what they get in all is the capacity.
    #[arg(long, value_name = "CLIENTS", conflicts_with_all = ["ramp", "objective", "arrivals"])]
    crowd: Option<NonZeroU32>,
    /// For how long they are there before anything is counted (default: 0.3 s, or longer where requests take long).
    #[arg(long, value_name = "SPAN", requires = "crowd")]
    warmup: Option<Span>,
    /// For how long that is measured.
    #[arg(long, value_name = "SPAN", default_value_t = lab::HOLD, value_parser = hold, requires = "crowd")]
    hold: Span,
    /// Drop the files below this directory from memory before each probe, so that the server reads them from the disk.
    #[arg(long, value_name = "DIR")]
    cold: Option<PathBuf>,
    /// Processors of the generator, such as 1 or 2-3, on which the server does not run (default: any).
    #[arg(long, value_name = "LIST")]
    cpus: Option<String>,
    /// Write the records of all probes, and capacity.json, into this directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Do not watch the server meanwhile, which takes some of a processor; the bottleneck is not found then.
    #[arg(long)]
    no_watch: bool,
    /// Print what was found as one JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
    /// Seed of arrivals.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Options of `headworks load`, such as --workload or --http.
    #[arg(last = true, value_name = "OPTIONS")]
    load: Vec<OsString>,
}

fn precision(text: &str) -> Result<Ratio, String> {
    let share: Ratio = text.parse().map_err(|why: units::ParseError| why.to_string())?;
    if share.as_f64() >= lab::MIN_PRECISION {
        Ok(share)
    } else {
        Err(format!("at least {}%", 100.0 * lab::MIN_PRECISION))
    }
}

fn hold(text: &str) -> Result<Span, String> {
    let hold: Span = text.parse().map_err(|why: units::ParseError| why.to_string())?;
    if hold >= lab::MIN_HOLD { Ok(hold) } else { Err(format!("at least {}", lab::MIN_HOLD)) }
}

impl Args {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let stop = lab::Stop::default();
        stop_on_signals(&stop).map_err(Failure::Failed)?;
        let spread = lab::arrivals(&self.objective);
        let search = SearchOptions {
            url: self.url,
            load: self.load,
            objectives: self.objective,
            arrivals: self.arrivals.unwrap_or_else(|| spread.to_owned()),
            cpus: self.cpus,
            precision: self.precision,
            ramp: self.ramp,
            crowd: self.crowd.map(|clients| Crowd { clients, warmup: self.warmup, hold: self.hold }),
            cold: self.cold,
            out: self.out,
            watch: !self.no_watch,
            seed: self.seed,
            headworks: std::env::current_exe()
                .context("cannot find this program's own file")
                .map_err(Failure::Failed)?,
        };
        let quiet = self.quiet;
        let out = search.out.clone();
        let (found, result) = lab::find(&search, &stop, |probe| {
            if !quiet {
                // The search goes on where the reader of its output has left.
                let _ = writeln!(std::io::stderr(), "{}", line(probe));
            }
        });
        if !found.probes.is_empty() {
            show(&found, self.json).map_err(Failure::Failed)?;
            if let Some(out) = &out {
                report(out, self.json).map_err(Failure::Failed)?;
            }
        }
        match (result, stop.signal()) {
            (Ok(()), _) => Ok(Exit::Ok),
            (Err(lab::Error::Interrupted), Some(signal)) => Ok(Exit::Interrupted { signal }),
            (Err(error), _) => broken_off(error),
        }
    }
}

/// The page beside the record.
fn report(directory: &Path, json: bool) -> anyhow::Result<()> {
    let page = Document::read(directory)?.write(directory)?;
    if !json {
        writeln!(std::io::stdout(), "report: {}", page.display())
            .context("cannot write to standard output")?;
    }
    Ok(())
}

fn line(probe: &ProbeResult) -> String {
    let offer = match (probe.clients, probe.offered) {
        (Some(clients), _) => format!("{clients:>5} clients"),
        (None, offered) => format!("{:>11.1}/s", offered.unwrap_or_default()),
    };
    let latency = format!("median {:.2} ms, 99 % {:.2} ms", probe.p50 * 1e3, probe.p99 * 1e3);
    let remark = match (&probe.behind, &probe.not_valid) {
        (Some(why), _) => format!("   behind: {why}"),
        (None, Some(why)) => format!("   not valid: {why}"),
        (None, None) => String::new(),
    };
    format!("{offer}: {:>11.1}/s   {latency}{remark}", probe.achieved)
}
