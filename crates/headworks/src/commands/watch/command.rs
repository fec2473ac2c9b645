//! The command line of `headworks watch`.

use super::read::ReadArgs;
use super::run::RunArgs;
use crate::exit::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  headworks watch --port 80                           the programs that listen there, until interrupted
  headworks watch --port 80 --out runs/w --keep 10m --keep-on 'listen_queue.waiting>50'
                                                      and the last ten minutes in fine looks, whenever that happens
  headworks watch read runs/w/kept-1 --from 14:03:20 --to 14:03:25
                                                      what went on then";

/// Watches a server and its kernel: processors, interrupts, disks, and what the server's processes use.
///
/// Figures are read by programs in the kernel (eBPF, as root) or, where that is not possible, from /proc; `headworks doctor` says which and why. cpu shares are of all processors for the kernel, and processors in use for a program.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Read(ReadArgs),
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Some(Command::Read(args)) => args.run(),
            None => self.run.run(),
        }
    }
}
