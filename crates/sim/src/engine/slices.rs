//! [`Slices`]: round robin, and first come first served.

use std::collections::VecDeque;

use super::job::Job;
use super::processor::Processor;

/// Jobs are worked on in turn, each for a quantum at most. A quantum without end is first come,
/// first served.
#[derive(Debug, Clone)]
pub(crate) struct Slices {
    quantum: f64,
    /// On a processor each, with the end of its slice and what it needs after that.
    running: Vec<Slice>,
    ready: VecDeque<Ready>,
    processors: usize,
}

#[derive(Debug, Clone, Copy)]
struct Slice {
    ends: f64,
    job: Ready,
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
        let (running, ready) = (Vec::with_capacity(processors), VecDeque::with_capacity(most));
        Self { quantum, running, ready, processors }
    }

    fn run(&mut self, now: f64, Ready { job, remaining }: Ready) {
        let slice = remaining.min(self.quantum);
        let job = Ready { job, remaining: remaining - slice };
        self.running.push(Slice { ends: now + slice, job });
    }

    fn first(&self) -> Option<(usize, f64)> {
        let ends = self.running.iter().map(|slice| slice.ends).enumerate();
        ends.min_by(|one, other| one.1.total_cmp(&other.1))
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
        self.first().map_or(f64::INFINITY, |(_, ends)| ends)
    }

    fn advance(&mut self, now: f64) -> Option<Job> {
        let (index, _) = self.first()?;
        let Slice { job, .. } = self.running.swap_remove(index);
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
