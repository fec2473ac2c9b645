//! `headworks load`: puts load on a server and tells what became of it.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use load::{Load, Objective, Options, Report, Script, Target};
use traffic::{Process, Workload};
use units::{Count, Rate, Span};

use crate::exit::{Exit, Failure};

/// Puts load on a server: sessions or requests, at a rate (open loop) or from a number of clients (closed loop).
///
/// Every request is split into connect, processing and transfer. In an open loop latency counts from the time at which the schedule wanted the request, so a server that stalls cannot hide it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where requests go; with --workload, scheme and host only.
    #[arg(value_name = "URL")]
    target: Target,
    /// Closed loop: so many clients, each starting anew when it has finished (default 10).
    #[arg(long, short, value_name = "N", conflicts_with_all = ["rate", "arrivals"])]
    connections: Option<Count>,
    /// Open loop: so many requests, or with --workload sessions, per second.
    #[arg(long, short, value_name = "R")]
    rate: Option<Rate>,
    /// How they are spread over time: constant, poisson, h2:CV, gamma:CV or lognormal:CV.
    #[arg(long, value_name = "PROCESS", default_value_t, requires = "rate")]
    arrivals: Process,
    /// What users do: pages, embedded objects, pauses, classes (a TOML file, docs/load.md).
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
    /// The measuring window.
    #[arg(long, short, value_name = "SPAN", default_value = "10s")]
    duration: Span,
    /// Time under load before it that does not count.
    #[arg(long, value_name = "SPAN", default_value = "0s")]
    warmup: Span,
    /// How long to follow what began in the window (default: as long as a session can take).
    #[arg(long, value_name = "SPAN")]
    drain: Option<Span>,
    /// How long a request may take (default: the workload's, else 20s).
    #[arg(long, value_name = "SPAN")]
    timeout: Option<Span>,
    /// Requests after which a connection is closed (default: as many as the server allows).
    #[arg(long, value_name = "N")]
    requests_per_connection: Option<NonZeroU32>,
    /// Seed of the arrivals.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    /// A bound such as 'p99<50ms', 'errors<=1%' or 'rate>=100'; exit code 3 when it is missed. Can be given several times.
    #[arg(long = "objective", value_name = "BOUND")]
    objectives: Vec<Objective>,
    /// Write the record of the run into this directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the summary as one JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let json = self.json;
        let report = load::run(&self.options()?).map_err(|error| Failure::Failed(error.into()))?;
        show(&report, json).map_err(Failure::Failed)?;
        match (report.signal, &report.never_connected) {
            (Some(signal), _) => Ok(Exit::Interrupted { signal }),
            (None, Some(why)) => Err(Failure::Failed(anyhow!("not one connection came about: {why}"))),
            (None, None) if !report.summary.client.valid => Ok(Exit::NotValid),
            (None, None) if !report.meets_objectives() => Ok(Exit::ObjectiveMissed),
            (None, None) => Ok(Exit::Ok),
        }
    }

    fn options(self) -> Result<Options, Failure> {
        let usage = |what: &str| Failure::Usage(anyhow!("{what}"));
        if self.duration.is_zero() {
            return Err(usage("--duration is 0; nothing would be measured"));
        }
        if self.timeout.is_some_and(Span::is_zero) {
            return Err(usage("--timeout is 0; every request would fail"));
        }
        let load = match (self.rate, self.connections) {
            (Some(rate), _) if rate.as_f64() > 0.0 => Load::Open { rate, process: self.arrivals },
            (Some(_), _) => return Err(usage("--rate is 0; give a rate above 0")),
            (None, clients) => {
                let clients = clients.map_or(Ok(10), |Count(clients)| clients.try_into());
                match clients {
                    Ok(clients @ 1..=100_000) => Load::Closed { clients },
                    _ => return Err(usage("--connections must be 1 to 100k")),
                }
            }
        };
        let script = match &self.workload {
            None => Script::Url,
            Some(_) if self.target.path() != "/" => {
                return Err(usage("the pages come from --workload; give the URL without a path"));
            }
            Some(file) => {
                let source = config::Source::read(file)?;
                Script::Sessions { workload: Workload::parse(&source)?, text: source.text().to_owned() }
            }
        };
        Ok(Options {
            target: self.target,
            script,
            load,
            warmup: self.warmup,
            duration: self.duration,
            drain: self.drain,
            timeout: self.timeout,
            seed: self.seed,
            requests_per_connection: self.requests_per_connection,
            objectives: self.objectives,
            out: self.out,
            command: super::command_line(),
            progress: !self.quiet,
        })
    }
}

fn show(report: &Report, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, &report.summary)
            .map_err(Into::into)
            .and_then(|()| writeln!(out))
            .context("cannot write the summary to standard output")
    } else {
        write!(out, "{report}").context("cannot write the summary to standard output")
    }
}
