//! `headworks man`: the manual pages, made from the command line's own definition.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;

use crate::exit::{Exit, Failure};

/// Writes the manual pages, one for each command, into a directory; without one, prints the first.
///
/// To read a page at once: headworks man | man -l -
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where they go, such as ~/.local/share/man/man1; made if it is not there.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Args {
    /// Writes the pages of `program`, the whole command line.
    pub(crate) fn run(self, program: Command) -> Result<Exit, Failure> {
        match &self.directory {
            Some(directory) => write(program, directory),
            None => print(program),
        }
        .map_err(Failure::Failed)?;
        Ok(Exit::Ok)
    }
}

fn write(program: Command, directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(program, directory))
        .with_context(|| format!("cannot write manual pages into {}", directory.display()))
}

fn print(program: Command) -> anyhow::Result<()> {
    let mut page = Vec::new();
    Man::new(program.disable_help_subcommand(true))
        .render(&mut page)
        .and_then(|()| stdout().write_all(&page))
        .context("cannot write to standard output")
}
