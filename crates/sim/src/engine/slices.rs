//! [`Slices`]: round robin, and first come first served.

use std::collections::VecDeque;

use super::job::Job;
use super::later::Later;
use super::processor::Processor;

/// Jobs are worked on in turn, each for a quantum at most. A quantum without end is first come,
/// first served.
#[derive(Debug, Clone)]
pub(crate) struct Slices {
    quantum: f64,
    /// On a processor each, until the end of its slice, with what it needs after that.
    running: Later<Ready>,
    ready: VecDeque<Ready>,
    processors: usize,
}

#[derive(Debug, Clone, Copy)]
struct Ready {
    job: Job,
    /// What it still needs, without the slice under way.
    remaining: f64,
}

impl Slices {
    /// Room for `most` jobs.
    pub(crate) fn new(most: usize, processors: usize, quantum: f64) -> Self {
        Self { quantum, running: Later::default(), ready: VecDeque::with_capacity(most), processors }
    }

    fn run(&mut self, now: f64, Ready { job, remaining }: Ready) {
        let slice = remaining.min(self.quantum);
        self.running.add(now + slice, Ready { job, remaining: remaining - slice });
    }
}

impl Processor for Slices {
    type Request = Job;

    fn len(&self) -> usize {
        self.running.len() + self.ready.len()
    }

    fn working(&self) -> usize {
        self.running.len()
    }

    fn start(&mut self, now: f64, job: Job) {
        let ready = Ready { job, remaining: job.demand };
        if self.running.len() < self.processors {
            self.run(now, ready);
        } else {
            self.ready.push_back(ready);
        }
    }

    fn next(&self) -> f64 {
        self.running.next()
    }

    fn advance(&mut self, now: f64) -> Option<Job> {
        let (_, job) = self.running.take()?;
        let done = job.remaining <= 0.0;
        if !done {
            self.ready.push_back(job);
        }
        if let Some(next) = self.ready.pop_front() {
            self.run(now, next);
        }
        done.then_some(job.job)
    }
}
