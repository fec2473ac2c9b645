//! From the record to the report's data: repeats pooled, broken tests left out.

use std::path::Path;

use record::experiment::{self, Experiment, TestState};
use record::{Kind, Quantiles, RequestError};
use stats::Estimate;

use super::measured::Measured;
use super::model::{
    Capacity, ClassPoint, ClassReading, ClientReading, Duration, ErrorCount, ExperimentReport, Phase, Phases,
    Point, Requests, Test,
};
use super::{headline, subjects};
use crate::conclusion::Conclusion;
use crate::error::Error;
use crate::method::experiment as method;
use crate::{files, limit};

impl ExperimentReport {
    /// Derives the report of the experiment in `directory`.
    ///
    /// # Errors
    /// When the directory holds no experiment, or its index cannot be read. A test that cannot
    /// be read is not an error: it is reported as broken.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        let experiment = load(directory)?;
        let read: Vec<(Test, Option<Measured>)> =
            experiment.tests.iter().map(|test| read_test(directory, &experiment, test)).collect();
        let subjects = subjects::all(&experiment);
        let points = points(&experiment, &subjects, &read);
        let capacity = experiment.capacity.as_ref().map(|capacity| Capacity {
            rate: Estimate { value: capacity.rate, ci: Some(capacity.ci) },
            unit: capacity.unit.clone(),
            directory: capacity.directory.clone(),
        });
        let mut report = Self {
            method: method::facts(directory, &experiment),
            sources: method::sources(directory, &experiment),
            limits: limit::all(&experiment),
            title: experiment.title,
            started: experiment.started,
            ended: experiment.ended,
            interrupted: experiment.interrupted,
            version: experiment.version,
            server: experiment.server,
            factor: experiment.factor,
            subjects,
            classes: experiment.classes,
            capacity,
            verdict: Conclusion::default(),
            points,
            tests: read.into_iter().map(|(test, _)| test).collect(),
        };
        report.verdict = headline::of(&report);
        Ok(report)
    }
}

/// Reads the index; tells a wrong directory from a damaged one.
fn load(directory: &Path) -> Result<Experiment, Error> {
    if Kind::of(directory).is_some_and(Kind::is_experiment) {
        return Ok(Experiment::load(directory)?);
    }
    let place = directory.to_owned();
    if !directory.is_dir() { Err(Error::Missing(place)) } else { Err(Error::NotAnExperiment(place)) }
}

/// A test as the page lists it, and its figures where its record can be read.
fn read_test(directory: &Path, experiment: &Experiment, test: &experiment::Test) -> (Test, Option<Measured>) {
    let place = directory.join(&test.directory);
    let (mut state, mut why) = (test.state, test.why.clone());
    let mut measured = None;
    if state != TestState::Broken {
        match Measured::read(&place) {
            Ok(found) => measured = Some(found),
            Err(reason) => {
                state = TestState::Broken;
                why.push(reason);
            }
        }
    }
    let reading = measured.as_ref();
    let shown = Test {
        directory: test.directory.clone(),
        subject: subjects::of(experiment, test),
        level: test.level,
        repeat: test.repeat,
        offered: test.offered,
        state,
        why,
        files: files::names(&place),
        goodput: reading.and_then(|m| Estimate::rate(m.completed_inside, m.window)).map(|rate| rate.value),
        classes: reading.map(|m| class_readings(experiment, m)).unwrap_or_default(),
        client: reading
            .map(|m| ClientReading { cpu: m.summary.client.cpu, lag_p99: m.summary.client.lag.p99 }),
    };
    (shown, measured)
}

fn class_readings(experiment: &Experiment, measured: &Measured) -> Vec<ClassReading> {
    let readings = class_points(experiment, &[measured]).into_iter().map(|class| ClassReading {
        name: class.name,
        share: class.share.map(|share| share.value),
        mean: class.duration.as_ref().map(|duration| duration.mean.value),
        median: class.duration.map(|duration| duration.median.value),
    });
    readings.collect()
}

/// One point for each subject and level that a test counts for, in the experiment's order.
fn points(experiment: &Experiment, subjects: &[String], read: &[(Test, Option<Measured>)]) -> Vec<Point> {
    let mut levels: Vec<f64> = read.iter().map(|(test, _)| test.level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let mut points = Vec::new();
    for &level in &levels {
        for subject in subjects {
            let (tests, measured): (Vec<&Test>, Vec<&Measured>) = read
                .iter()
                .filter(|(test, _)| test.level == level && &test.subject == subject)
                .filter(|(test, _)| test.state == TestState::Measured)
                .filter_map(|(test, measured)| Some((test, measured.as_ref()?)))
                .unzip();
            if let Some(first) = tests.first() {
                points.push(pool(experiment, first, &measured));
            }
        }
    }
    points
}

/// Several tests as if they had been one.
fn pool(experiment: &Experiment, first: &Test, tests: &[&Measured]) -> Point {
    let completed_inside = tests.iter().map(|test| test.completed_inside).sum();
    let window = tests.iter().map(|test| test.window).sum();
    let sessions = || tests.iter().flat_map(|test| test.classes.values());
    Point {
        subject: first.subject.clone(),
        level: first.level,
        offered: first.offered,
        repeats: tests.len(),
        started: sessions().map(|class| class.started).sum(),
        completed: sessions().map(|class| class.durations.len() as u64).sum(),
        completed_inside,
        window,
        goodput: Estimate::rate(completed_inside, window),
        classes: class_points(experiment, tests),
        requests: requests(tests),
    }
}

fn class_points(experiment: &Experiment, tests: &[&Measured]) -> Vec<ClassPoint> {
    let of_class = |name: &str| {
        let sessions = || tests.iter().filter_map(|test| test.classes.get(name));
        let mut durations: Vec<f64> = sessions().flat_map(|class| class.durations.iter().copied()).collect();
        durations.sort_by(f64::total_cmp);
        let (started, completed) = (sessions().map(|class| class.started).sum(), durations.len() as u64);
        ClassPoint {
            name: name.to_owned(),
            started,
            completed,
            share: Estimate::share(completed, started),
            duration: duration(&durations),
        }
    };
    experiment.classes.iter().map(|class| of_class(&class.name)).collect()
}

fn duration(rising: &[f64]) -> Option<Duration> {
    Some(Duration {
        count: rising.len(),
        mean: Estimate::mean(rising)?,
        median: Estimate::quantile(rising, 0.5)?,
        p90: Estimate::quantile(rising, 0.9)?,
    })
}

fn requests(tests: &[&Measured]) -> Requests {
    let summaries = || tests.iter().map(|test| &test.summary);
    let mut errors = Vec::new();
    for error in RequestError::ALL {
        errors.push((error.name().to_owned(), summaries().map(|s| s.errors.get(error)).sum()));
    }
    let statuses = summaries().flat_map(|s| s.status.iter()).filter(|(status, _)| **status >= 400);
    for (status, count) in statuses {
        let kind = format!("status {status}");
        match errors.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, sum)) => *sum += count,
            None => errors.push((kind, *count)),
        }
    }
    Requests {
        requests: summaries().map(|s| s.requests).sum(),
        responses: summaries().map(|s| s.responses).sum(),
        phases: Phases {
            connect: phase(summaries().map(|s| &s.latency.connect)),
            processing: phase(summaries().map(|s| &s.latency.processing)),
            transfer: phase(summaries().map(|s| &s.latency.transfer)),
        },
        errors: errors
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| ErrorCount { kind, count })
            .collect(),
    }
}

fn phase<'a>(tests: impl Iterator<Item = &'a Quantiles>) -> Phase {
    let mut phase = Phase { mean: 0.0, p99: 0.0, count: 0 };
    let mut sum = 0.0;
    for test in tests {
        sum += test.mean * test.count as f64;
        phase.count += test.count;
        phase.p99 = phase.p99.max(test.p99);
    }
    if phase.count > 0 {
        phase.mean = sum / phase.count as f64;
    }
    phase
}
