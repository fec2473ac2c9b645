//! [`Delay`]: jobs that do not hinder one another.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::processor::{Job, Processor};

/// Each job takes as long as it needs, however many there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delay {
    jobs: BinaryHeap<Ending>,
}

/// A job and when it ends; the earliest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ending {
    pub(super) at: f64,
    pub(super) job: Job,
}

impl Processor for Delay {
    fn len(&self) -> usize {
        self.jobs.len()
    }

    fn start(&mut self, now: f64, job: Job) {
        self.jobs.push(Ending { at: now + job.demand, job });
    }

    fn next(&self) -> f64 {
        self.jobs.peek().map_or(f64::INFINITY, |ending| ending.at)
    }

    fn advance(&mut self, _: f64) -> Option<Job> {
        self.jobs.pop().map(|ending| ending.job)
    }
}

impl Eq for Ending {}

impl PartialOrd for Ending {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ending {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at).then(other.job.whose.cmp(&self.job.whose))
    }
}
