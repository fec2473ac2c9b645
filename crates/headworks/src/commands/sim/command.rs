//! The command line of `headworks sim`: simulates a server in overload.

use super::advise::AdviseArgs;
use super::exact::ExactArgs;
use super::fit::FitArgs;
use super::planner::PlannerArgs;
use super::recovery::RecoveryArgs;
use super::run::RunArgs;
use super::sweep::{FiguresArgs, SweepArgs};
use crate::exit::{EXIT_CODES, Exit, Failure};

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
  headworks sim advise --from access.log --objective 'p90<1s'
  headworks sim plan --from access.log --rate 900 --objective 'p95<500ms' --spare 1
                                                      how many such servers it takes
  headworks sim recovery --from access.log --patience 1s
                                                      whether it comes back from a surge in which clients ask again";

/// Simulates a web server in overload: latency and rejections, with confidence intervals.
///
/// The default is the server of "Web server performance under heavy loads": 25 threads that share a processor, no queue, a fifth of the requests dynamic and 100 times as dear as the others, at full load.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", EXIT_CODES))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Exact(ExactArgs),
    Fit(FitArgs),
    Advise(Box<AdviseArgs>),
    #[command(name = "plan")]
    Planner(Box<PlannerArgs>),
    Recovery(Box<RecoveryArgs>),
    Sweep(SweepArgs),
    Figures(FiguresArgs),
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Some(Command::Exact(args)) => args.run(),
            Some(Command::Fit(args)) => args.run(),
            Some(Command::Advise(args)) => args.run(),
            Some(Command::Planner(args)) => args.run(),
            Some(Command::Recovery(args)) => args.run(),
            Some(Command::Sweep(args)) => args.run(),
            Some(Command::Figures(args)) => args.run(),
            None => self.run.run(),
        }
    }
}
