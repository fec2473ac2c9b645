//! [`Delay`]: jobs that do not hinder one another.

use super::job::Job;
use super::later::Later;
use super::processor::Processor;

/// Each job takes as long as it needs, however many there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delay {
    jobs: Later<Job>,
}

impl Processor for Delay {
    type Request = Job;

    fn len(&self) -> usize {
        self.jobs.len()
    }

    fn start(&mut self, now: f64, job: Job) {
        self.jobs.add(now + job.demand, job);
    }

    fn next(&self) -> f64 {
        self.jobs.next()
    }

    fn advance(&mut self, _: f64) -> Option<Job> {
        self.jobs.take().map(|(_, job)| job)
    }
}
