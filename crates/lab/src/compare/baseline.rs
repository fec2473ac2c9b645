//! A series of records of the same thing, as nightly runs leave them, and what a new one is compared with.

use std::fs;
use std::path::{Path, PathBuf};

use record::experiment::Experiment;
use record::{RunDirectory, Timestamp};
use serde::Serialize;
use stats::significance;

use super::comparison::{Comparison, difference_of};
use super::figures::{self, Better, Figure};
use crate::error::Error;

/// A change within the series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Test and figure.
    pub name: String,
    /// Such as `requests/s`.
    pub unit: String,
    /// The first record after it.
    pub at: PathBuf,
    /// The mean since the change before it, or the beginning.
    pub before: f64,
    /// The mean up to the next change, or the end.
    pub after: f64,
    /// Whether that is for the worse.
    pub is_worse: bool,
}

/// A series, and how new records differ from what it has come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesComparison {
    /// Records of the series, the oldest first.
    pub series: Vec<PathBuf>,
    /// Where it has changed.
    pub changes: Vec<Change>,
    /// New records against what came after the last change; nothing where there are none.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Fewer say nothing of how records differ from each other by chance.
const FEWEST: usize = 3;
/// The chance to find a change in a figure of a series that has none.
const LEVEL: f64 = 0.05;

/// Looks where the records below `directory` change, in the order in which they were begun, and whether `new` ones differ
/// from those after the last change: each record counts once, with its means, so that what differs from run to run is
/// what a difference is measured by.
///
/// # Errors
/// When there are fewer than three, or one cannot be read, or they have no figure in common.
pub fn compare_with_series(directory: &Path, new: &[PathBuf]) -> Result<SeriesComparison, Error> {
    let judged: Vec<_> = new.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut series = records(directory)?;
    // What is judged is not what it is judged by.
    series.retain(|path| path.canonicalize().is_ok_and(|path| !judged.contains(&path)));
    if series.len() < FEWEST {
        return Err(Error::ShortSeries { path: directory.to_owned(), found: series.len(), fewest: FEWEST });
    }
    let read =
        |paths: &[PathBuf]| paths.iter().map(|path| figures::read(path)).collect::<Result<Vec<_>, _>>();
    let (old, new_figures) = (read(&series)?, read(new)?);
    let mut changes = Vec::new();
    let (mut pairs, mut unmatched) = (Vec::new(), Vec::new());
    let figures = all_of(&old);
    if figures.is_empty() {
        return Err(Error::Incomparable { before: directory.to_owned(), after: series[0].clone() });
    }
    for figure in &figures {
        // Of those that lack it nothing is known.
        let of = |all: &[Vec<Figure>]| -> Vec<(usize, f64)> {
            let found = all.iter().enumerate();
            found
                .filter_map(|(at, figures)| {
                    Some((at, figures.iter().find(|other| other.name == figure.name)?.mean()))
                })
                .collect()
        };
        let values = of(&old);
        let means: Vec<f64> = values.iter().map(|(_, mean)| *mean).collect();
        let places = stats::changes(&means, LEVEL);
        let ends: Vec<usize> = [0].into_iter().chain(places.iter().copied()).chain([means.len()]).collect();
        let mean = |from: usize, to: usize| stats::mean(means[from..to].iter().copied()).unwrap_or_default();
        for ends in ends.windows(3) {
            let [from, at, to] = [ends[0], ends[1], ends[2]];
            let (before, after) = (mean(from, at), mean(at, to));
            changes.push(Change {
                name: figure.name.clone(),
                unit: figure.unit.clone(),
                at: series[values[at].0].clone(),
                before,
                after,
                is_worse: (after < before) == (figure.better == Better::Higher),
            });
        }
        let last = means[places.last().copied().unwrap_or(0)..].to_vec();
        let now: Vec<f64> = of(&new_figures).into_iter().map(|(_, mean)| mean).collect();
        if !now.is_empty() {
            pairs.push((*figure, last, now));
        } else if !new.is_empty() {
            unmatched.push(figure.name.clone());
        }
    }
    if pairs.is_empty() && !new.is_empty() {
        return Err(Error::Incomparable { before: directory.to_owned(), after: new[0].clone() });
    }
    let chances = pairs.iter().map(|(figure, last, now)| chance(figure, last, now));
    let chances = significance::holm(chances.collect());
    let differences = pairs
        .iter()
        .zip(chances)
        .map(|((figure, last, now), p)| difference_of(figure, last, now, p))
        .collect();
    let is_new = |figure: &&Figure| figures.iter().all(|known| known.name != figure.name);
    unmatched.extend(new_figures.iter().flatten().filter(is_new).map(|figure| figure.name.clone()));
    unmatched.sort();
    unmatched.dedup();
    Ok(SeriesComparison { series, changes, comparison: Comparison { differences, unmatched } })
}

/// What any of the records has, each once.
fn all_of(records: &[Vec<Figure>]) -> Vec<&Figure> {
    let mut figures: Vec<&Figure> = Vec::new();
    for figure in records.iter().flatten() {
        if figures.iter().all(|known| known.name != figure.name) {
            figures.push(figure);
        }
    }
    figures
}

/// How likely it is by chance that the figure has these values now. Of a series without any spread, such as a share that was
/// always 0, it is not known how much chance does: what is less than a hundredth does not count then.
fn chance(figure: &Figure, last: &[f64], now: &[f64]) -> Option<f64> {
    const RELEVANT: f64 = 0.01;
    let (mean, after) = (stats::mean(last.iter().copied())?, stats::mean(now.iter().copied())?);
    let scale = if figure.unit.is_empty() { 1.0 } else { mean.abs() };
    if last.iter().all(|value| *value == mean) && (after - mean).abs() <= RELEVANT * scale {
        return Some(1.0);
    }
    match now[..] {
        [one] => significance::belongs(last, one),
        _ => significance::welch(last, now),
    }
}

/// Experiments and runs directly below a directory, in the order in which they were begun.
fn records(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(directory).map_err(Error::io("read", directory))?;
    let mut found: Vec<(Timestamp, PathBuf)> = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io("read", directory))?.path();
        let begun = if Experiment::is_in(&path) {
            Experiment::load(&path).map(|experiment| experiment.started)
        } else {
            RunDirectory::open(&path).and_then(|run| run.info()).map(|info| info.started)
        };
        // Whatever else is there is not of the series.
        found.extend(begun.ok().map(|begun| (begun, path)));
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
