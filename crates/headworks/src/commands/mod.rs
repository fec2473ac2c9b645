//! One file per subcommand: its options, and the call into the tool's crate.

mod completions;
mod doctor;
mod gate;
mod lab;
mod load;
mod man;
mod origin;
mod report;
mod signals;
mod sim;
mod values;
mod watch;

use std::ffi::CStr;
use std::fmt::Display;
use std::io::Write as _;

use anyhow::Context as _;

use crate::exit::{Exit, Failure};

/// The subcommands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Doctor(doctor::Args),
    Gate(gate::Args),
    Lab(lab::Args),
    Load(Box<load::Args>),
    Origin(origin::Args),
    Report(report::Args),
    Sim(Box<sim::Args>),
    Watch(Box<watch::Args>),
    Man(man::Args),
    Completions(completions::Args),
}

impl Command {
    /// Runs the tool.
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self {
            Self::Doctor(args) => args.run(),
            Self::Gate(args) => args.run(),
            Self::Lab(args) => args.run(),
            Self::Load(args) => args.run(),
            Self::Origin(args) => args.run(),
            Self::Report(args) => args.run(),
            Self::Sim(args) => args.run(),
            Self::Watch(args) => args.run(),
            Self::Man(args) => args.run(),
            Self::Completions(args) => args.run(),
        }
    }
}

/// What the kernel calls this process from now on, and its threads to come: a server is not to be taken for the
/// generator, or the monitor.
fn rename(name: &CStr) {
    // A name is no more than a help.
    let _ = rustix::thread::set_name(name);
}

/// Writes a result to standard output: at once, and without a panic where the reader has read enough
/// and closed the pipe (`headworks gate check FILE | head`).
fn print(what: impl Display) -> Result<(), Failure> {
    let text = what.to_string();
    let written = std::io::stdout().write_all(text.as_bytes());
    written.context("cannot write to standard output").map_err(Failure::Failed)
}

/// The command line as it goes into a record: by the program's name, wherever it is installed, so
/// that it can be repeated elsewhere.
fn command_line() -> Vec<String> {
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("headworks".to_owned()).chain(arguments).collect()
}
