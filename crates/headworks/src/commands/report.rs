//! `headworks report`: the report of an experiment or a run, made again from its record.

use std::path::{Path, PathBuf};

use anyhow::Context;
use report::Document;

use crate::exit::{Exit, Failure, usage};
use crate::output::print;
use crate::process::command_line;

/// Makes the report of an experiment, a search, a run, a simulation or a watch again from its record, as report.html in its directory and as a table here. Several records of `load` are put together as one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory, as `headworks lab run`, or `load`, `sim` or `watch` with `--out` wrote it; or one with directories `NAME/watch`, which are compared. Several, all of `load`: generators that ran side by side, or the same run again.
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// Write several records, put together, into this directory, with a report.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print what the report shows as one JSON object; of several records their summary.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match (self.directories.as_slice(), &self.out) {
            ([directory], None) => self.single(directory),
            ([_], Some(_)) => {
                Err(usage("--out is for several records that are put together; give more than one"))
            }
            (several, _) => self.merge(several),
        }
    }

    fn single(&self, directory: &Path) -> Result<Exit, Failure> {
        let report = Document::read(directory).map_err(failure)?;
        let page = report.write(directory).map_err(failure)?;
        print(if self.json {
            serde_json::to_string(&report).map_err(|why| Failure::Failed(why.into()))? + "\n"
        } else {
            format!("{}\nreport: {}\n", report.table(), page.display())
        })?;
        Ok(Exit::Ok)
    }

    fn merge(&self, directories: &[PathBuf]) -> Result<Exit, Failure> {
        let beside = tempfile::tempdir().context("cannot make a directory for the new record");
        let beside = beside.map_err(Failure::Failed)?;
        let out = self.out.clone().unwrap_or_else(|| beside.path().join("merged"));
        let merged = load::merge(directories, &out, command_line());
        let merged = merged.map_err(|error| Failure::new(error.is_usage(), error))?;
        if self.json {
            let text = serde_json::to_string(&merged.summary).map_err(|why| Failure::Failed(why.into()))?;
            print(text + "\n")?;
        } else {
            print(&merged)?;
        }
        if self.out.is_some() {
            let page = report::run(&out).map_err(failure)?;
            if !self.json {
                print(format_args!("report: {}\n", page.display()))?;
            }
        }
        Ok(if merged.summary.client.valid { Exit::Ok } else { Exit::NotValid })
    }
}

fn failure(error: report::Error) -> Failure {
    Failure::new(error.is_usage(), error)
}
