//! `headworks completions`: what a shell needs to complete commands and options.

use std::io::{Write, stdout};

use anyhow::Context;
use clap::Command;
use clap_complete::Shell;

use crate::exit::{Exit, Failure};

/// Prints a script with which a shell completes commands and options.
///
/// For bash: headworks completions bash > ~/.local/share/bash-completion/completions/headworks
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

impl Args {
    /// Prints the script for `program`, the whole command line.
    pub(crate) fn run(self, mut program: Command) -> Result<Exit, Failure> {
        let name = program.get_name().to_owned();
        // Into memory first: the generator does not expect a pipe whose reader went away.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, name, &mut script);
        stdout().write_all(&script).context("cannot write to standard output").map_err(Failure::Failed)?;
        Ok(Exit::Ok)
    }
}
