//! The `headworks` command: reads the command line, calls a tool, turns what it says into an
//! exit code. It has no logic of its own: `cli` has the whole command line, and each file
//! or folder under `commands/` is one subcommand.

mod cli;
mod commands;
mod exit;
mod output;
mod process;
mod signals;
mod values;

use std::process::ExitCode;

use clap::Parser as _;

use self::cli::Cli;

/// A request on its way through the gate allocates some dozens of times; this allocator makes that
/// cheaper than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}
