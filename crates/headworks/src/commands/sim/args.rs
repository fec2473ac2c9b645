//! The options of `headworks sim`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::advise::AdviseArgs;
use super::behind::PolicyArgs;
use super::fit::{FitArgs, FromArgs};
use super::model::ModelArgs;
use super::sessions::SessionArgs;
use super::sweep::{FiguresArgs, SweepArgs};
use crate::commands::values::count;

const STATISTICS: &str = "Statistics";
pub(super) const OUTPUT: &str = "Output";

const EXAMPLES: &str = "\
Examples:
  headworks sim --cv 3 --queue 66                     the paper's server at full load
  headworks sim --load 0.9 --cv 4 --queue 1000        a long queue instead of rejections
  headworks sim --cv 3 --queue 66 --out runs/cv-3     with a report: the queue over time, and more
  headworks sim --load 3 --policy gate.toml --premium 0.2
                                                      the gate's policy before it, in three times what it can serve
  headworks sim exact --cv 2 --queue 24 --service exponential
  headworks sim fit access.log --out model.toml       what a log says, as a model
  headworks sim --model model.toml --queue 100        that model, with another queue
  headworks sim advise --from access.log --objective 'p90<1s'";

/// Simulates a web server in overload: latency and rejections, with confidence intervals.
///
/// The default is the server of "Web server performance under heavy loads": 25 threads that share a processor, no queue, a fifth of the requests dynamic and 100 times as dear as the others, at full load.
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
    Fit(FitArgs),
    Advise(Box<AdviseArgs>),
    Sweep(SweepArgs),
    Figures(FiguresArgs),
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
    pub(super) from: FromArgs,
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) sessions: SessionArgs,
    #[command(flatten)]
    pub(super) policy: PolicyArgs,
    #[command(flatten)]
    pub(super) plan: PlanArgs,
    /// Keep the outcome, the model and the course of one replication in this directory, with a report.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT, conflicts_with = "policy")]
    pub(super) out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = OUTPUT)]
    pub(super) quiet: bool,
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
