//! [`Figure`]: what of a record is compared.

use std::path::Path;
use std::sync::Arc;

use record::Kind;
use record::experiment::{Experiment, Test, TestState};

use crate::error::Error;
use crate::load::part::Part;

/// Which way is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

/// A figure of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) better: Better,
    /// Of each repeat, or where there is one of each part of it.
    pub(super) values: Vec<f64>,
    /// Of a single value, where it comes with one.
    pub(super) interval: Option<[f64; 2]>,
}

impl Figure {
    pub(super) fn mean(&self) -> f64 {
        stats::mean(self.values.iter().copied()).unwrap_or(0.0)
    }
}

/// All figures of an experiment, or of a run.
pub(super) fn read(directory: &Path) -> Result<Vec<Figure>, Error> {
    if !Kind::of(directory).is_some_and(Kind::is_experiment) {
        return of_run(directory, "");
    }
    let experiment = Experiment::load(directory)?;
    let mut groups: Vec<(String, Vec<&Test>)> = Vec::new();
    for test in experiment.tests.iter().filter(|test| test.state == TestState::Measured) {
        let name = name(&experiment, test);
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, tests)) => tests.push(test),
            None => groups.push((name, vec![test])),
        }
    }
    let mut figures = Vec::new();
    for (name, tests) in &groups {
        figures.extend(of_tests(directory, name, tests)?);
    }
    Ok(figures)
}

/// Subject and levels.
fn name(experiment: &Experiment, test: &Test) -> String {
    let axis =
        (!experiment.factor.name.is_empty()).then(|| format!("{} {}", experiment.factor.label(), test.level));
    let others = test.settings.iter().map(|(label, level)| format!("{label} {level}"));
    let levels: Vec<String> = axis.into_iter().chain(others).collect();
    if levels.is_empty() {
        test.subject.clone()
    } else {
        format!("{} at {}", test.subject, levels.join(", "))
    }
}

fn of_tests(directory: &Path, name: &str, tests: &[&Test]) -> Result<Vec<Figure>, Error> {
    let found: Vec<_> = tests.iter().filter_map(|test| test.capacity.as_ref()).collect();
    if !found.is_empty() {
        let figure = Figure {
            name: format!("{name}: capacity"),
            unit: found[0].unit.clone(),
            better: Better::Higher,
            values: found.iter().filter_map(|capacity| capacity.rate).collect(),
            interval: if found.len() == 1 { found[0].ci } else { None },
        };
        return Ok(if figure.values.is_empty() { Vec::new() } else { vec![figure] });
    }
    let runs: Vec<Vec<Figure>> = tests
        .iter()
        .map(|test| of_run(&directory.join(&test.directory), &format!("{name}: ")))
        .collect::<Result<_, _>>()?;
    let mut runs = runs.into_iter();
    let mut figures = runs.next().unwrap_or_default();
    // Of repeats each counts as one, whatever happened within it.
    if tests.len() > 1 {
        figures.iter_mut().for_each(|figure| figure.values = vec![figure.mean()]);
    }
    for run in runs {
        for figure in run {
            match figures.iter_mut().find(|it| it.name == figure.name) {
                Some(known) => known.values.push(figure.mean()),
                None => figures.push(Figure { values: vec![figure.mean()], ..figure }),
            }
        }
    }
    Ok(figures)
}

/// Of a single run, part by part.
fn of_run(directory: &Path, prefix: &str) -> Result<Vec<Figure>, Error> {
    let parts = Part::read(directory)?;
    let figure = |what: &str, unit: &str, better, values: Vec<f64>| Figure {
        name: format!("{prefix}{what}"),
        unit: unit.to_owned(),
        better,
        values,
        interval: None,
    };
    let values = |of: &dyn Fn(&Part) -> Option<f64>| parts.iter().filter_map(of).collect::<Vec<f64>>();
    let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
    let mut figures = vec![
        figure("responses", "/s", Better::Higher, values(&|part| Some(part.good as f64 / part.length))),
        figure("mean latency", "s", Better::Lower, values(&Part::mean_latency)),
        figure(
            "requests without a response",
            "",
            Better::Lower,
            values(&|part| share(part.requests - part.good, part.requests)),
        ),
    ];
    let mut classes: Vec<&Arc<str>> = parts.iter().flat_map(|part| part.sessions.keys()).collect();
    classes.sort();
    classes.dedup();
    for class in classes {
        let completed = values(&|part| {
            part.sessions.get(class).and_then(|&(started, completed)| share(completed, started))
        });
        figures.push(figure(&format!("{class} sessions completed"), "", Better::Higher, completed));
    }
    figures.retain(|figure| !figure.values.is_empty());
    Ok(figures)
}
