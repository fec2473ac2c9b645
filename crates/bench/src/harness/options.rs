//! [`Target`] and [`Options`]: what every benchmark, and what every benchmark of programs under load, can be told.

use std::path::PathBuf;

use super::plan::Effort;

/// The program that is measured, and on what machine.
#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// Measure on a machine that others use, and say so.
    #[arg(long)]
    pub(crate) force: bool,
    /// The program that is measured.
    #[arg(long, value_name = "FILE", default_value = "target/release/headworks")]
    pub(crate) headworks: PathBuf,
}

/// Options of a benchmark.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Short rounds of a few cases, to see whether it works.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only what has this in its name; names are as in the raw results.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
    /// How often each program runs in each case.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// How long each run takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: Option<u32>,
    #[command(flatten)]
    pub(crate) target: Target,
}

impl Options {
    /// What is done where nothing else is asked for.
    pub(crate) fn effort(&self, default: Effort) -> Effort {
        Effort {
            rounds: self.rounds.unwrap_or(default.rounds),
            seconds: self.seconds.unwrap_or(default.seconds),
        }
    }
}
