//! Charts of searches: against the load that was offered, and capacities against what was varied.

use std::collections::BTreeMap;
use std::path::Path;

use record::RunDirectory;
use record::experiment::{Experiment, Test, TestState};
use record::prediction::{Outcome, PredictedPoint, Prediction};
use record::search::{Found, Tried};

use crate::{Axis, Curve, Error, Estimate, Figure, Place, Unit};

fn axis(label: &str, unit: Unit, logarithmic: bool) -> Axis {
    Axis { label: label.to_owned(), unit, logarithmic }
}

fn figure(
    id: String,
    title: &str,
    caption: &str,
    (x, y): (Axis, Axis),
    curves: Vec<Curve>,
) -> Option<Figure> {
    let curves: Vec<Curve> = curves.into_iter().filter(|curve| !curve.points.is_empty()).collect();
    let (title, caption) = (title.to_owned(), caption.to_owned());
    (!curves.is_empty()).then_some(Figure { id, title, place: String::new(), caption, x, y, curves })
}

/// A curve over the probes that offered something, in rising order.
fn over(name: &str, probes: &[&Tried], value: impl Fn(&Tried) -> Option<f64>) -> Curve {
    let place = |tried: &&Tried| {
        let value = value(tried).filter(|value| value.is_finite())?;
        let remark = tried.behind.as_ref().or(tried.not_valid.as_ref());
        Some(Place {
            x: tried.offered?,
            y: Estimate { value, ci: None },
            note: remark.map_or_else(|| "kept up".to_owned(), Clone::clone),
        })
    };
    Curve { name: name.to_owned(), points: probes.iter().filter_map(place).collect() }
}

/// What happened at each load.
pub(super) fn of(directory: &Path, id: &str, found: &Found) -> Result<Vec<Figure>, Error> {
    let mut probes: Vec<&Tried> = found.probes.iter().filter(|tried| tried.offered.is_some()).collect();
    probes
        .sort_by(|one, other| one.offered.unwrap_or_default().total_cmp(&other.offered.unwrap_or_default()));
    let mut phases: BTreeMap<&str, [f64; 3]> = BTreeMap::new();
    for tried in &probes {
        let latency = RunDirectory::open(directory.join(&tried.directory))?.summary()?.latency;
        phases
            .insert(&tried.directory, [latency.connect.mean, latency.processing.mean, latency.transfer.mean]);
    }
    let phase = |at: usize| {
        let phases = &phases;
        move |tried: &Tried| phases.get(&*tried.directory).map(|phases| phases[at])
    };
    let offered = || axis("Offered load", Unit::Rate, false);
    let achieved = vec![
        over("achieved", &probes, |tried| Some(tried.achieved)),
        over("offered", &probes, |tried| tried.offered),
    ];
    let latency = vec![
        over("median", &probes, |tried| Some(tried.p50)),
        over("99 %", &probes, |tried| Some(tried.p99)),
    ];
    let phases = ["connecting", "processing", "transfer"];
    let phases = phases.iter().enumerate().map(|(at, name)| over(name, &probes, phase(at))).collect();
    let mut names: Vec<&String> = probes.iter().flat_map(|tried| tried.used.keys()).collect();
    names.sort();
    names.dedup();
    let used = names.iter().map(|name| over(name, &probes, |tried| tried.used.get(*name).copied())).collect();
    let figures = [
        figure(
            format!("{id}-achieved"),
            "What was achieved?",
            "Good responses, or completed sessions, beside what was offered; where the two part the server is at its end.",
            (offered(), axis("Per second", Unit::Rate, false)),
            achieved,
        ),
        figure(
            format!("{id}-latency"),
            "How long did requests take?",
            "From when the schedule wanted a request to its last byte.",
            (offered(), axis("Latency", Unit::Seconds, true)),
            latency,
        ),
        figure(
            format!("{id}-phases"),
            "Where did the time go?",
            "Means. What grows tells where to look: connecting, the listen queue; processing, processors, workers, locks and what is behind; transfer, network and disk.",
            (offered(), axis("Mean time", Unit::Seconds, true)),
            phases,
        ),
        figure(
            format!("{id}-used"),
            "How near was everything to its end?",
            "At 100 % there is no more of it.",
            (offered(), axis("In use", Unit::Percent, false)),
            used,
        ),
    ];
    Ok(figures.into_iter().flatten().collect())
}

/// What was predicted beside what was measured.
pub(super) fn predicted(id: &str, prediction: &Prediction) -> Vec<Figure> {
    let curve = |name: &str, of: &dyn Fn(&PredictedPoint) -> Option<Outcome>, lost: bool| {
        let place = |point: &PredictedPoint| {
            let outcome = of(point)?;
            let y = if lost {
                Estimate { value: outcome.lost, ci: None }
            } else {
                Estimate { value: outcome.mean, ci: outcome.ci }
            };
            let error = point.error().map(|error| format!("predicted {:+.1} %", error * 100.0));
            let note = error.unwrap_or_else(|| point.why.join("; "));
            Some(Place { x: point.rate, y, note: format!("{} times the capacity, {note}", point.load) })
        };
        let mut points: Vec<Place> = prediction.points.iter().filter_map(place).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Curve { name: name.to_owned(), points }
    };
    let both = |lost: bool| {
        vec![
            curve("measured", &|point| Some(point.measured), lost),
            curve("predicted", &|point| point.predicted, lost),
        ]
    };
    let offered = || axis("Requests that arrived", Unit::Rate, false);
    let figures = [
        figure(
            format!("{id}-predicted"),
            "Does the simulator say the same?",
            "Mean latency of what was answered, measured, and predicted for the same arrivals from what requests needed in another run.",
            (offered(), axis("Mean latency", Unit::Seconds, true)),
            both(false),
        ),
        figure(
            format!("{id}-predicted-lost"),
            "And of what is lost?",
            "Requests without a response; predicted in the long run, when the queue is as full as it gets.",
            (offered(), axis("Lost", Unit::Percent, false)),
            both(true),
        ),
    ];
    figures.into_iter().flatten().collect()
}

/// Capacities against what was varied, where that is a number; a curve for each combination of the rest.
pub(super) fn compared(experiment: &Experiment, known: &[(&Test, Found)]) -> Vec<Figure> {
    let Some(factor) = experiment.others.first() else { return Vec::new() };
    let mut curves: BTreeMap<String, BTreeMap<u64, Vec<(f64, Place)>>> = BTreeMap::new();
    for (test, found) in known.iter().filter(|(test, _)| test.state == TestState::Measured) {
        let Some(capacity) = &found.capacity else { continue };
        let Some(level) = test.settings.get(&factor.label).and_then(|level| level.parse::<f64>().ok()) else {
            continue;
        };
        let others = test.settings.iter().filter(|(label, _)| **label != factor.label);
        let others: Vec<String> = others.map(|(label, level)| format!("{label} {level}")).collect();
        let name = [std::slice::from_ref(&test.subject), &others[..]].concat().join(", ");
        let note = found.verdict.bottleneck.map_or("unknown", record::search::Resource::name).to_owned();
        let place = Place { x: level, y: Estimate { value: capacity.rate, ci: Some(capacity.ci) }, note };
        curves.entry(name).or_default().entry(level.to_bits()).or_default().push((capacity.rate, place));
    }
    let curves = curves.into_iter().map(|(name, levels)| {
        let mut points: Vec<Place> = levels.into_values().filter_map(together).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Curve { name, points }
    });
    let figure = figure(
        "capacity".to_owned(),
        "What does the server keep up with?",
        "Bands are 95 % confidence intervals of repeats, or of a single search from the highest rate that was kept up with to the lowest that was not.",
        (axis(&factor.label, Unit::Plain, false), axis("Capacity", Unit::Rate, false)),
        curves.collect(),
    );
    figure.into_iter().collect()
}

/// Repeats at a level as one point.
fn together(repeats: Vec<(f64, Place)>) -> Option<Place> {
    let mut place = repeats.first()?.1.clone();
    if repeats.len() > 1 {
        let estimate = record::Estimate::of(repeats.iter().map(|(rate, _)| *rate));
        place.y = Estimate { value: estimate.mean, ci: Some(estimate.ci) };
    }
    Some(place)
}
