//! From directories of sweeps to what is reported of them.

use std::path::Path;

use record::sweep::PointRow;
use record::{Kind, sweeps_in};

use super::checks;
use super::curves;
use super::model::{Check, SimulationReport};
use super::paper;
use super::single;
use super::sweep::SweepData;
use crate::conclusion::{Conclusion, KeyFigure};
use crate::error::Error;
use crate::method::fact::{Fact, Source};

impl SimulationReport {
    /// Derives the report of the simulation or the sweep in `directory`, or of the sweeps in the
    /// directories there.
    ///
    /// # Errors
    /// When the directory holds nothing of the kind, or it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        match Kind::of(directory) {
            Some(Kind::Simulation) => single::read(directory),
            kind => Self::of_sweeps(directory, kind == Some(Kind::Sweep)),
        }
    }

    /// Of the one that `directory` is, `alone`, or of those in it.
    fn of_sweeps(directory: &Path, alone: bool) -> Result<Self, Error> {
        let paths = if alone { vec![directory.to_owned()] } else { sweeps_in(directory) };
        let known: Vec<SweepData> =
            paths.iter().map(|path| SweepData::read(path)).collect::<Result<_, _>>()?;
        // A sweep by itself may be called as one of the paper's and be about something else.
        let is_paper = !alone && known.iter().any(|one| !one.sweep.figures.is_empty());
        let Some(first) = known.first() else { return Err(Error::NotARecord(directory.to_owned())) };
        let checks = if alone { Vec::new() } else { checks::all(&known) };
        let figures =
            if is_paper { paper::figures(&known) } else { known.iter().flat_map(curves::of_sweep).collect() };
        let title = if is_paper {
            "Web server performance under heavy loads".to_owned()
        } else {
            first.sweep.title.clone()
        };
        Ok(Self {
            verdict: if checks.is_empty() { plain_verdict(first) } else { judged(&checks) },
            title,
            version: first.sweep.version.clone(),
            warnings: warnings(&known),
            checks,
            outcomes: Vec::new(),
            course: None,
            figures,
            method: method(&known),
            sources: known
                .iter()
                .map(|one| Source { name: format!("{}.toml", one.name), text: one.spec.clone() })
                .collect(),
        })
    }
}

fn judged(checks: &[Check]) -> Conclusion {
    let holding = checks.iter().filter(|check| check.holds).count();
    let failing: Vec<String> = checks
        .iter()
        .filter(|check| !check.holds)
        .map(|check| format!("{}: {} Does not hold: {}.", check.place, check.statement, check.evidence))
        .collect();
    let headline = match failing.len() {
        0 => format!("All {holding} statements of the paper that were checked hold"),
        _ => format!("{holding} of {} statements of the paper hold", checks.len()),
    };
    let figure = |value: usize, label: &str| KeyFigure {
        value: value.to_string(),
        label: label.to_owned(),
        note: String::new(),
    };
    Conclusion {
        headline,
        details: failing,
        figures: vec![
            figure(holding, "statements that hold"),
            figure(checks.len() - holding, "statements that do not"),
        ],
    }
}

fn plain_verdict(known: &SweepData) -> Conclusion {
    let details = vec![format!(
        "{} of {} points along {} have been simulated.",
        known.rows.len(),
        known.sweep.points.len(),
        known.sweep.parameter
    )];
    Conclusion { headline: known.sweep.title.clone(), details, figures: Vec::new() }
}

fn warnings(known: &[SweepData]) -> Vec<String> {
    let missing: usize = known.iter().map(|one| one.sweep.points.len().saturating_sub(one.rows.len())).sum();
    let vague = known.iter().flat_map(|one| &one.rows).filter(|row| !row.precise).count();
    [
        (missing > 0).then(|| format!("{missing} points have not been simulated yet.")),
        (vague > 0)
            .then(|| format!("{vague} points are not as precise as they were to be; their bands are wider.")),
        known
            .iter()
            .any(|one| one.sweep.quick)
            .then(|| "Simulated quickly: the bands are wider than without --quick.".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn method(known: &[SweepData]) -> Vec<Fact> {
    let fact = |label: &str, value: String| Fact { label: label.to_owned(), value, command: false };
    let rows = || known.iter().flat_map(|one| &one.rows);
    let events: u64 = rows().map(|row| row.events).sum();
    let span = |least: Option<u64>, most: Option<u64>| match (least, most) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (Some(least), _) => least.to_string(),
        _ => "none".to_owned(),
    };
    let of = |value: fn(&PointRow) -> u64| span(rows().map(value).min(), rows().map(value).max());
    vec![
        fact("points", rows().count().to_string()),
        fact("arrivals and completions", format!("{:.0} million", events as f64 / 1e6)),
        fact("replications of each point", of(|row| u64::from(row.replications))),
        fact("requests in a replication", of(|row| row.requests)),
        fact("requests before them, not counted", of(|row| row.warmup)),
        fact("seed", of(|row| row.seed)),
        fact("bands", "95 % confidence intervals, from how replications differ".to_owned()),
    ]
}
