//! `headworks report`: the report of an experiment or a run, made again from its record.

use std::io::{Write, stdout};
use std::path::PathBuf;

use anyhow::Context;
use report::Document;

use crate::exit::{Exit, Failure};

/// Makes the report of an experiment, a search, a run, a simulation or a watch again from its record, as report.html in its directory and as a table here.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory, as `headworks lab run`, or `load`, `sim` or `watch` with `--out` wrote it; or one with directories `NAME/watch`, which are compared.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Print what the report shows as one JSON object.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let report = Document::read(&self.directory).map_err(failure)?;
        let page = report.write(&self.directory).map_err(failure)?;
        let text = if self.json {
            serde_json::to_string(&report).map_err(|why| Failure::Failed(why.into()))? + "\n"
        } else {
            format!("{}\nreport: {}\n", report.table(), page.display())
        };
        stdout()
            .write_all(text.as_bytes())
            .context("cannot write to standard output")
            .map_err(Failure::Failed)?;
        Ok(Exit::Ok)
    }
}

fn failure(error: report::Error) -> Failure {
    Failure::new(error.is_usage(), error)
}
