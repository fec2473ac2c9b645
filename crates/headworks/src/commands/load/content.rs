//! `headworks load make-content`: the files that a workload asks for.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use traffic::model::{Model, ModelName, content};
use units::Bytes;

use crate::exit::{Exit, Failure};

/// Writes the files that a workload asks for, to be served by the server under test.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The document root of the server; files are written below it.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Which workload: surge, surge1998, webstone, webstone2, specweb96 or specweb96:RATE.
    #[arg(long, short, value_name = "NAME")]
    workload: ModelName,
}

impl Args {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let model = Model::named(self.workload, 0);
        let written =
            content::write(&self.directory, &model).map_err(|error| Failure::Failed(error.into()))?;
        let kept =
            if written.kept > 0 { format!(", {} were there already", written.kept) } else { String::new() };
        writeln!(
            std::io::stdout(),
            "{}: {} files, {}{kept}",
            self.directory.display(),
            written.files,
            Bytes(written.bytes)
        )
        .context("cannot write to standard output")
        .map_err(Failure::Failed)?;
        Ok(Exit::Ok)
    }
}
