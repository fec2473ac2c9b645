//! `headworks watch read`: any time of what a watch has left.

use std::path::PathBuf;

use anyhow::Context as _;
use units::Span;
use watch::read::{Moment, Wanted, read};

use crate::exit::{Exit, Failure};
use crate::output::print;

/// Shows any time of a record that a watch has left (--out), or of what it has kept (--keep), as sar -f does.
///
/// Stretches without responses are listed, and, where requests were followed, the slowest of them. Times are UTC.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadArgs {
    /// The directory: of the watch, or kept-1, kept-2, .. below it.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// From when: 14:03:20, 2026-11-28T14:03:20Z, 30s after the beginning, or -10s before the end.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Until when.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<Moment>,
    /// How long a row stands for; 0s shows each look (default: as long as makes 200 rows).
    #[arg(long, value_name = "SPAN")]
    interval: Option<Span>,
    /// How many of the slowest requests to show, where requests were followed.
    #[arg(long, value_name = "N", default_value_t = 5)]
    slowest: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl ReadArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let wanted = Wanted { from: self.from, to: self.to, interval: self.interval, slowest: self.slowest };
        let reading = read(&self.directory, wanted)
            .with_context(|| format!("{} is no record of a watch that can be read", self.directory.display()))
            .map_err(Failure::Usage)?;
        if self.json {
            let text = serde_json::to_string(&reading).map_err(|why| Failure::Failed(why.into()))?;
            print(text + "\n")?;
        } else {
            print(reading.text())?;
        }
        Ok(Exit::Ok)
    }
}
