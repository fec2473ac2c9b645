//! The command line of `headworks load`.

use super::args::RunArgs;
use super::{content, import};
use crate::exit::{EXIT_CODES, Exit, Failure, usage};

const EXAMPLES: &str = "\
Examples:
  headworks load http://127.0.0.1:8080/                          closed loop, 10 clients, 10 s
  headworks load http://127.0.0.1:8080/ --rate 2k --out runs/2k  open loop, with a report
  headworks load http://127.0.0.1:8080/ --ramp 100:1100:100:20s  rising load
  headworks load http://127.0.0.1:8080 --workload surge -c 100   users as in SURGE";

/// Puts load on a server: sessions or requests, at a rate (open loop) or from a number of clients (closed loop).
///
/// Every request is split into connect, processing and transfer. In an open loop latency counts from the time at which the schedule wanted the request, so a server that stalls cannot hide it.
#[derive(Debug, clap::Args)]
#[command(subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", EXIT_CODES))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: Option<RunArgs>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    MakeContent(content::Args),
    Import(import::Args),
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match (self.command, self.run) {
            (Some(Command::MakeContent(args)), _) => args.run(),
            (Some(Command::Import(args)), _) => args.run(),
            (None, Some(run)) => run.run(),
            (None, None) => Err(usage("give the URL that load is to be put on")),
        }
    }
}
