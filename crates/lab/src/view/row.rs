//! [`Row`]: what is known of one test.

use std::path::Path;
use std::time::Duration;

use record::RunDirectory;
use record::experiment::{MeasuredCapacity, Test, TestState};

use crate::progress::Expected;

/// A test in the table.
#[derive(Debug)]
pub(super) struct Row {
    /// Subject and levels.
    pub(super) name: String,
    /// Where its record is.
    pub(super) directory: String,
    /// What it should take.
    pub(super) expected: Duration,
    pub(super) outcome: Option<RowOutcome>,
}

/// How it went.
#[derive(Debug)]
pub(super) struct RowOutcome {
    pub(super) state: TestState,
    /// Sessions per second.
    pub(super) offered: f64,
    /// Per class of the experiment, in its order; `None` where none was started.
    pub(super) classes: Vec<Option<Reading>>,
    pub(super) why: Vec<String>,
    /// What a search found, in words.
    pub(super) capacity: Option<String>,
}

/// What one class of users got.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    /// Share of the started sessions that completed.
    pub(super) completed: f64,
    /// Median duration of those, s.
    pub(super) median: f64,
}

impl Row {
    pub(super) fn waiting(test: Expected) -> Self {
        let Expected { name, directory, length } = test;
        Self { name, directory, expected: length, outcome: None }
    }

    /// Fills in what the test's record says.
    pub(super) fn finish(&mut self, test: &Test, directory: &Path, classes: &[String]) {
        let summary = RunDirectory::open(directory.join(&test.directory)).and_then(|run| run.summary()).ok();
        let reading = |name: &String| {
            let class = summary.as_ref()?.sessions.by_class.get(name)?;
            (class.started > 0).then(|| Reading {
                completed: class.completed as f64 / class.started as f64,
                median: class.duration.p50,
            })
        };
        self.outcome = Some(RowOutcome {
            state: test.state,
            offered: test.offered,
            classes: classes.iter().map(reading).collect(),
            why: test.why.clone(),
            capacity: test.capacity.as_ref().map(MeasuredCapacity::to_string),
        });
    }
}
