//! The command line of `headworks lab`.

use std::io::Write as _;

use anyhow::Context;

use super::{capacity, compare, plan, run, serve, verdict};
use crate::exit::{Exit, Failure};

/// Does experiments: finds what a server carries and what sets that, and offers it more, bare and behind the gate.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run(run::Args),
    Plan(plan::Args),
    Capacity(capacity::Args),
    Verdict(verdict::Args),
    Compare(compare::Args),
    Serve(serve::Args),
    /// Prints the JSON Schema of specs, for editors.
    Schema,
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Command::Run(run) => run.run(),
            Command::Plan(plan) => plan.run(),
            Command::Capacity(capacity) => capacity.run(),
            Command::Verdict(verdict) => verdict.run(),
            Command::Compare(compare) => compare.run(),
            Command::Serve(serve) => serve.run(),
            Command::Schema => schema().map(|()| Exit::Ok).map_err(Failure::Failed),
        }
    }
}

fn schema() -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{:#}", lab::schema()).context("cannot write to standard output")
}
