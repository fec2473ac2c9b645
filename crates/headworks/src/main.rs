//! The `headworks` command: reads the command line, calls a tool, turns what it says into an
//! exit code. It has no logic of its own; each file under `commands/` is one subcommand.

mod commands;
mod exit;

use std::process::ExitCode;

use clap::Parser;

/// Measures what a web server can carry, and keeps the users who matter served.
#[derive(Debug, Parser)]
#[command(name = "headworks", version, propagate_version = true, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}
