//! [`Cli`]: the whole command line.

use clap::{CommandFactory as _, Parser};

use crate::commands::{attach, completions, doctor, gate, lab, load, man, origin, report, sim, top, watch};
use crate::exit::{EXIT_CODES, Exit, Failure};

/// Measures what a web server can carry, and keeps the users who matter served.
#[derive(Debug, Parser)]
#[command(name = "headworks", version, propagate_version = true, subcommand_required = true)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands.
#[derive(Debug, clap::Subcommand)]
enum Command {
    Attach(attach::command::Args),
    Doctor(doctor::Args),
    Gate(gate::Args),
    Lab(lab::command::Args),
    Load(Box<load::command::Args>),
    Origin(origin::Args),
    Report(report::Args),
    Sim(Box<sim::command::Args>),
    Top(top::Args),
    Watch(Box<watch::command::Args>),
    Man(man::Args),
    Completions(completions::Args),
}

impl Cli {
    /// Runs the tool.
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Command::Attach(args) => args.run(),
            Command::Doctor(args) => args.run(),
            Command::Gate(args) => args.run(),
            Command::Lab(args) => args.run(),
            Command::Load(args) => args.run(),
            Command::Origin(args) => args.run(),
            Command::Report(args) => args.run(),
            Command::Sim(args) => args.run(),
            Command::Top(args) => args.run(),
            Command::Watch(args) => args.run(),
            Command::Man(args) => args.run(Self::command()),
            Command::Completions(args) => args.run(Self::command()),
        }
    }
}
