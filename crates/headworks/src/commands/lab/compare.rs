//! `headworks lab compare`: whether two records differ by more than chance explains.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use lab::{Comparison, Difference};

use crate::exit::{Exit, Failure};

/// Compares two experiments, or two runs of `headworks load`, by figures with a test for significance.
///
/// The exit code is 3 when something is worse in the second.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The record to compare with.
    before: PathBuf,
    /// The record that is judged.
    after: PathBuf,
    /// Print it as one JSON object.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let comparison =
            lab::compare(&self.before, &self.after).map_err(|error| Failure::new(error.is_usage(), error))?;
        show(&comparison, self.json).map_err(Failure::Failed)?;
        Ok(if comparison.is_worse() { Exit::ObjectiveMissed } else { Exit::Ok })
    }
}

fn show(comparison: &Comparison, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let written = if json {
        writeln!(out, "{}", serde_json::to_string(comparison)?)
    } else {
        out.write_all(text(comparison).as_bytes())
    };
    written.context("cannot write to standard output")
}

fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for difference in &comparison.differences {
        text += &line(difference);
    }
    for name in &comparison.unmatched {
        text += &format!("{name}: in one of them only\n");
    }
    text += if comparison.differs() {
        "They differ.\n"
    } else {
        "They do not differ by more than chance explains.\n"
    };
    text
}

fn line(difference: &Difference) -> String {
    let Difference { name, unit, before, after, p, differs, is_worse } = difference;
    let change = (after / before - 1.0) * 100.0;
    let change = if change.is_finite() { format!("{change:+.1} %") } else { "-".to_owned() };
    let chance = p.map_or_else(|| "single values".to_owned(), |p| format!("p = {p:.3}"));
    let verdict = match (differs, is_worse) {
        (false, _) => "same",
        (true, true) => "WORSE",
        (true, false) => "better",
    };
    format!("{verdict:6} {name}: {before:.4} -> {after:.4} {unit} ({change}, {chance})\n")
}
