//! The options of `headworks sim`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use sim::{Discipline, Service};
use units::{Rate, Ratio, Span};

use super::sessions::SessionArgs;
use crate::commands::values::count;

const ARRIVALS: &str = "Arrivals";
const REQUESTS: &str = "Requests";
const SERVER: &str = "Server";
const STATISTICS: &str = "Statistics";
const OUTPUT: &str = "Output";

const EXAMPLES: &str = "\
Examples:
  headworks sim --cv 3 --queue 66                     the paper's server at full load
  headworks sim --load 0.9 --cv 4 --queue 1000        a long queue instead of rejections
  headworks sim exact --cv 2 --queue 24 --service exponential";

/// Simulates a web server in overload: latency and rejections, with confidence intervals.
///
/// The default is the server of \"Web server performance under heavy loads\": 25 threads that share a processor, no queue, a fifth of the requests dynamic and 100 times as dear as the others, at full load.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", crate::EXIT_CODES))]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    Exact(ExactArgs),
}

/// Computes what a model does in the long run, without chance, where that can be done.
#[derive(Debug, clap::Args)]
pub(super) struct ExactArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// Print one JSON object.
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) sessions: SessionArgs,
    #[command(flatten)]
    pub(super) plan: PlanArgs,
    /// Print one JSON object.
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ModelArgs {
    /// Requests over those that the server can serve.
    #[arg(long, value_name = "R", help_heading = ARRIVALS, default_value_t = 1.0, conflicts_with = "rate")]
    pub(super) load: f64,
    /// Requests per second.
    #[arg(long, short, value_name = "R", help_heading = ARRIVALS)]
    pub(super) rate: Option<Rate>,
    /// How they are spread over time: poisson, constant, h2, gamma, lognormal (with --cv), mmpp:RATIO:BUSY:QUIET, or trace:FILE as in a file of times or an access log (default: poisson, and h2 with a --cv above 1).
    #[arg(long, value_name = "PROCESS", help_heading = ARRIVALS)]
    pub(super) arrivals: Option<Arrivals>,
    /// Coefficient of variation of the times between arrivals.
    #[arg(long, value_name = "X", help_heading = ARRIVALS)]
    pub(super) cv: Option<f64>,

    /// The share of dynamic requests.
    #[arg(long, value_name = "F", help_heading = REQUESTS, default_value = "0.2")]
    pub(super) dynamic: Ratio,
    /// How many times as much processor time a dynamic request needs.
    #[arg(long, value_name = "T", help_heading = REQUESTS, default_value_t = 100.0)]
    pub(super) dynamic_cost: f64,
    /// Processor time that a static request needs on average.
    #[arg(long, value_name = "SPAN", help_heading = REQUESTS, default_value = "5ms")]
    pub(super) static_time: Span,
    /// Its distribution, for both: gamma, exponential, lognormal, erlang:STAGES or constant.
    #[arg(long, value_name = "LAW", help_heading = REQUESTS, default_value = "gamma")]
    pub(super) service: Service,
    /// Its coefficient of variation, with gamma and lognormal (default 0.6).
    #[arg(long, value_name = "X", help_heading = REQUESTS)]
    pub(super) service_cv: Option<f64>,

    /// Requests that are worked on at a time.
    #[arg(long, value_name = "N", help_heading = SERVER, default_value = "25", value_parser = count::<u32>(1..=1_000_000))]
    pub(super) threads: u32,
    /// Requests that wait for a thread, at most; `none` for no limit.
    #[arg(long, value_name = "N", help_heading = SERVER, default_value = "0")]
    pub(super) queue: Queue,
    /// How a processor is divided: ps (all at once), rr:QUANTUM (in turn) or fcfs.
    #[arg(long, value_name = "NAME", help_heading = SERVER, default_value = "ps")]
    pub(super) discipline: Discipline,
    /// Processors that the threads share.
    #[arg(long, value_name = "N", help_heading = SERVER, default_value = "1", value_parser = count::<u32>(1..=10_000))]
    pub(super) processors: u32,
}

#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    /// Replications at most.
    #[arg(long, value_name = "N", help_heading = STATISTICS, default_value = "400", value_parser = count::<u32>(2..=1_000_000))]
    pub(super) replications: u32,
    /// Stop when the 95 % intervals of rejection, mean latency and its 90th percentile are no wider than this share of them, to either side; 0 for all replications.
    #[arg(long, value_name = "X", help_heading = STATISTICS, default_value_t = 0.01)]
    pub(super) precision: f64,
    /// Requests in a replication, warm-up not included.
    #[arg(long, value_name = "N", help_heading = STATISTICS, default_value = "200k", value_parser = count::<u64>(100..=100_000_000_000))]
    pub(super) requests: u64,
    /// Requests at the beginning of each that are not counted (default: found by MSER-5 in a pilot run).
    #[arg(long, value_name = "N", help_heading = STATISTICS, value_parser = count::<u64>(0..=100_000_000_000))]
    pub(super) warmup: Option<u64>,
    /// One run as long as all replications together instead of them; intervals come from overlapping batch means.
    #[arg(long, help_heading = STATISTICS)]
    pub(super) long_run: bool,
    /// Where random numbers begin.
    #[arg(long, value_name = "N", help_heading = STATISTICS, default_value_t = 1)]
    pub(super) seed: u64,
    /// Processors to simulate on (default: all); the outcome is the same.
    #[arg(long, value_name = "N", help_heading = STATISTICS, value_parser = count::<NonZeroUsize>(1..=10_000))]
    pub(super) cores: Option<NonZeroUsize>,
}

/// The value of `--queue`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue(pub(super) Option<u32>);

impl FromStr for Queue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        count::<u32>(0..=1_000_000_000)(text).map(|queue| Self(Some(queue)))
    }
}

/// The value of `--arrivals`; a variation may stand in `--cv`.
#[derive(Debug, Clone)]
pub(super) enum Arrivals {
    Named(String),
    Trace(PathBuf),
}

impl FromStr for Arrivals {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.strip_prefix("trace:") {
            Some(file) => Self::Trace(file.into()),
            None => Self::Named(text.to_owned()),
        })
    }
}
