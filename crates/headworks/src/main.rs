//! The `headworks` command: reads the command line, calls a tool, turns what it says into an
//! exit code. It has no logic of its own; each file under `commands/` is one subcommand.

mod commands;
mod exit;

use std::process::ExitCode;

use clap::Parser;

/// A request on its way through the gate allocates some dozens of times; this allocator makes that
/// cheaper than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0         ok
  1         failed
  2         wrong usage or configuration
  3         a stated objective was missed
  4         the result is not valid: the generator, not the server, set it
  130, 143  interrupted by SIGINT or SIGTERM; what was measured is written";

/// Measures what a web server can carry, and keeps the users who matter served.
#[derive(Debug, Parser)]
#[command(name = "headworks", version, propagate_version = true, subcommand_required = true)]
#[command(after_long_help = EXIT_CODES)]
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
