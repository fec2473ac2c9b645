//! [`State`]: how far an experiment is.

use std::time::{Duration, Instant};

use super::row::Row;
use crate::progress::TestKind;

/// The progress of one experiment.
#[derive(Debug)]
pub(super) struct State {
    pub(super) title: String,
    pub(super) kind: TestKind,
    pub(super) capacity: Option<String>,
    pub(super) classes: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
    pub(super) now: Option<Phase>,
    /// Over the time that tests should take, what the last took.
    pub(super) pace: f64,
}

/// What is going on, since when, and how long it should take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phase {
    /// `None` while the capacity is searched for.
    pub(super) test: Option<usize>,
    pub(super) since: Instant,
    pub(super) expected: Duration,
}

impl Phase {
    pub(super) fn begin(test: Option<usize>, expected: Duration) -> Self {
        Self { test, since: Instant::now(), expected }
    }
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            title: String::new(),
            kind: TestKind::AtLoad,
            capacity: None,
            classes: Vec::new(),
            rows: Vec::new(),
            notes: Vec::new(),
            now: None,
            pace: 1.0,
        }
    }

    /// What the columns are.
    pub(super) fn meaning(&self) -> &'static str {
        match self.kind {
            TestKind::Search => "the highest rate that it keeps up with, its interval, and what sets it",
            TestKind::AtLoad => "completed sessions, median duration without pauses",
        }
    }

    /// How long it will still take.
    pub(super) fn remaining(&self) -> Duration {
        let left = self.now.map_or(Duration::ZERO, |now| now.expected.saturating_sub(now.since.elapsed()));
        let waiting = self.rows.iter().enumerate();
        let waiting = waiting.filter(|(index, row)| {
            row.outcome.is_none() && self.now.is_none_or(|now| now.test != Some(*index))
        });
        left + waiting.map(|(_, row)| row.expected).sum::<Duration>().mul_f64(self.pace)
    }
}
