//! `headworks lab serve`: the server of an experiment, alone.

use std::io::Write as _;
use std::path::PathBuf;

use super::common::{broken_off, options, stop_on_signals};
use crate::exit::{Exit, Failure};

/// Starts the server that a spec describes, says where it listens, and ends it on SIGINT or SIGTERM: to try by hand what experiments do.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  headworks lab serve experiments/goodput/banking.toml
  headworks lab serve experiments/goodput/banking.toml --set server.kind=nginx --set server.workers=1")]
pub(super) struct Args {
    /// The spec, a TOML file (docs/lab.md).
    spec: PathBuf,
    /// Changes one value of the spec, such as server.kind=apache; can be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

impl Args {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let stop = lab::Stop::default();
        stop_on_signals(&stop).map_err(Failure::Failed)?;
        let options = options(self.spec, self.settings, None).map_err(Failure::Failed)?;
        let tell = |lab::Serving { url, version, note }: lab::Serving<'_>| {
            // Who has closed standard output does not want to know.
            let _ = writeln!(std::io::stdout(), "listening on {url}");
            eprintln!("{version}");
            note.into_iter().for_each(|note| eprintln!("note: {note}"));
        };
        match lab::serve(&options, &stop, tell) {
            Ok(()) => Ok(stop.signal().map_or(Exit::Ok, |signal| Exit::Interrupted { signal })),
            Err(error) => broken_off(error),
        }
    }
}
