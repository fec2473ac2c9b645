//! `headworks lab compare`: whether two records differ by more than chance explains.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use lab::{Change, Comparison, Difference, SeriesComparison};

use crate::exit::{Exit, Failure};

/// Compares two experiments, or two runs of `headworks load`, by figures with a test for significance; or new ones with a
/// series of them, as nightly runs leave it.
///
/// The exit code is 3 when something is worse in the second, or in the new ones.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  headworks lab compare runs/before runs/after
  headworks lab compare --baseline runs/nightly runs/today
  headworks lab compare --baseline runs/nightly")]
pub(super) struct Args {
    /// The record to compare with, and the record that is judged; with --baseline those that are judged, if any.
    #[arg(value_name = "DIR", required_unless_present = "baseline")]
    records: Vec<PathBuf>,
    /// A directory with records of the same thing, three at least: says where their figures changed, and whether the records
    /// given differ from what came after the last change.
    #[arg(long, value_name = "DIR")]
    baseline: Option<PathBuf>,
    /// Print it as one JSON object.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let failed = |error: lab::Error| Failure::new(error.is_usage(), error);
        let comparison = match (&self.baseline, &self.records[..]) {
            (Some(series), new) => {
                let found = lab::compare_with_series(series, new).map_err(failed)?;
                show_series(&found, self.json).map_err(Failure::Failed)?;
                found.comparison
            }
            (None, [before, after]) => {
                let found = lab::compare(before, after).map_err(failed)?;
                show(&found, self.json).map_err(Failure::Failed)?;
                found
            }
            (None, others) => {
                return Err(Failure::Usage(anyhow::anyhow!(
                    "{} records given, and two are compared; give a series with --baseline",
                    others.len()
                )));
            }
        };
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

fn show_series(found: &SeriesComparison, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let written = if json {
        writeln!(out, "{}", serde_json::to_string(found)?)
    } else {
        out.write_all(series_text(found).as_bytes())
    };
    written.context("cannot write to standard output")
}

fn series_text(found: &SeriesComparison) -> String {
    let SeriesComparison { series, changes, comparison } = found;
    let mut text = format!("{} records in the series\n", series.len());
    for Change { name, unit, at, before, after, is_worse } in changes {
        let how = if *is_worse { "worse " } else { "better" };
        let percent = (after / before - 1.0) * 100.0;
        let at = at.display();
        text += &format!("{how} since {at}  {name}: {before:.4} -> {after:.4} {unit} ({percent:+.1} %)\n");
    }
    if changes.is_empty() {
        text += "It has not changed.\n";
    }
    if !comparison.differences.is_empty() {
        text += &self::text(comparison);
    }
    text
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
