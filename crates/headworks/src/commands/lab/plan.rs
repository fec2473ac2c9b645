//! `headworks lab plan`: what an experiment would do.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use lab::DryRun;

use super::common::options;
use crate::exit::{Exit, Failure};

/// Says which tests a spec comes to, and how long they take; checks all that can be checked without measuring.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The spec, a TOML file (docs/lab.md).
    spec: PathBuf,
    /// Changes one value of the spec, such as server.kind=apache; can be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Seed of the order of tests (default: that of the record that would be repeated, or 1).
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print it as one JSON object.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let options = options(self.spec, self.settings, self.seed).map_err(Failure::Failed)?;
        let outlook = lab::dry_run(&options).map_err(|error| Failure::new(error.is_usage(), error))?;
        show(&outlook, self.json).map_err(Failure::Failed)?;
        Ok(Exit::Ok)
    }
}

fn show(outlook: &DryRun, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let written = if json {
        writeln!(out, "{}", serde_json::to_string(outlook)?)
    } else {
        out.write_all(text(outlook).as_bytes())
    };
    written.context("cannot write to standard output")
}

fn text(outlook: &DryRun) -> String {
    let DryRun { title, server, tests, seconds } = outlook;
    let mut text = format!("{title}: {server}\n");
    for test in tests {
        text += &format!("{:40} {:4.0} s  {}\n", test.name, test.seconds, test.directory);
    }
    text += &format!("{} tests, about {:.0} min\n", tests.len(), (seconds / 60.0).ceil());
    text
}
