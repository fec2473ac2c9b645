//! `headworks lab verdict`: what the bottleneck is, from a record.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use record::Kind;
use record::search::{Resource, SearchResult};
use report::Document;
use serde_json::json;

use super::common::{broken_off, options, stop_on_signals};
use super::found::{show, text};
use crate::exit::{Exit, Failure};

/// Says what keeps a server from doing more, from what `headworks lab capacity --out DIR` or the searches of `headworks lab run` have recorded.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The directory of the search, or of the experiment.
    directory: PathBuf,
    /// What `headworks watch --group limits=200ms --out DIR` saw of the server during the search, if it ran elsewhere or by
    /// itself.
    #[arg(long, value_name = "DIR", conflicts_with = "confirm")]
    watch: Option<PathBuf>,
    /// The server's log of errors, which says what it was refused.
    #[arg(long, value_name = "FILE", conflicts_with = "confirm")]
    server_log: Option<PathBuf>,
    /// Relieve what is named (more of it, or less asked of it: quota, workers, queue, link, disk), and search again: if more
    /// is not carried then, the verdict is withdrawn, and the next is tried. Of an experiment with one search; takes as long
    /// as that for each that is relieved.
    #[arg(long, group = "searches")]
    confirm: bool,
    /// Relieve this, whatever the verdict is, and search again: what would it change?
    #[arg(long, value_name = "BOTTLENECK", value_parser = resource, group = "searches", conflicts_with_all = ["watch", "server_log"])]
    relieve: Option<Resource>,
    /// Print it as one JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short, requires = "searches")]
    quiet: bool,
}

fn resource(name: &str) -> Result<Resource, String> {
    Resource::named(name)
        .ok_or_else(|| "not a bottleneck; docs/lab.md, \"The bottleneck\", has their names".to_owned())
}

impl Args {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let failed = |error: lab::Error| Failure::new(error.is_usage(), error);
        if self.confirm || self.relieve.is_some() {
            return self.relieve();
        }
        if self.watch.is_some() || self.server_log.is_some() {
            let found = lab::verdict_with(&self.directory, self.watch.as_deref(), self.server_log.as_deref());
            show(&found.map_err(failed)?, self.json).map_err(Failure::Failed)?;
        } else if Kind::of(&self.directory).is_some_and(Kind::is_experiment) {
            let found = lab::verdicts(&self.directory).map_err(failed)?;
            self.show_all(&found).map_err(Failure::Failed)?;
        } else {
            let found = lab::verdict(&self.directory).map_err(failed)?;
            show(&found, self.json).map_err(Failure::Failed)?;
        }
        Ok(Exit::Ok)
    }

    /// Searches again with more of what is named.
    fn relieve(self) -> Result<Exit, Failure> {
        let stop = lab::Stop::default();
        stop_on_signals(&stop).map_err(Failure::Failed)?;
        let options = options(PathBuf::new(), Vec::new(), None).map_err(Failure::Failed)?;
        let options = lab::Options { quiet: self.quiet || self.json, ..options };
        let (found, ended) = match lab::confirm(&self.directory, self.relieve, &options, &stop) {
            Ok(found) => found,
            Err(error) => return broken_off(error),
        };
        show(&found, self.json).map_err(Failure::Failed)?;
        // With what was found.
        let written = Document::read(&self.directory).and_then(|report| report.write(&self.directory));
        written.map_err(|error| Failure::Failed(error.into()))?;
        match (ended, stop.signal()) {
            (Ok(()), _) => Ok(Exit::Ok),
            (Err(lab::Error::Interrupted), Some(signal)) => Ok(Exit::Interrupted { signal }),
            (Err(error), _) => broken_off(error),
        }
    }

    /// Test by test.
    fn show_all(&self, tests: &[(String, SearchResult)]) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        let written = if self.json {
            let tests: serde_json::Map<_, _> = tests
                .iter()
                .map(|(directory, found)| Ok((directory.clone(), serde_json::to_value(found)?)))
                .collect::<serde_json::Result<_>>()?;
            writeln!(out, "{}", json!({ "tests": tests }))
        } else {
            tests.iter().try_for_each(|(directory, found)| writeln!(out, "{directory}: {}", text(found)))
        };
        written.context("cannot write to standard output")
    }
}
