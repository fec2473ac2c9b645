//! [`Sharing`]: processor sharing.

use super::job::Job;
use super::processor::Processor;

/// All jobs are worked on at once, each at the same speed.
///
/// The service that each job has attained since the server was empty is the *virtual time*; a job
/// that starts at virtual time `v` is done at `v + demand`, whatever comes and goes meanwhile, so
/// jobs are kept in the order of that, the next one last.
#[derive(Debug, Clone)]
pub(crate) struct Sharing {
    jobs: Vec<Entry>,
    /// Speed of each of so many jobs, and its reciprocal: how long a unit of virtual time takes.
    speeds: Box<[(f64, f64)]>,
    /// Virtual time at `at`.
    attained: f64,
    at: f64,
    next: f64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    done: f64,
    job: Job,
}

/// Virtual time begins anew beyond this, so that adding to it loses nothing that matters: the
/// distance between two numbers here is a picosecond.
const REBASE: f64 = 4096.0;

impl Sharing {
    /// Room for `most` jobs on so many `processors`, of which a job uses one at most.
    pub(crate) fn new(most: usize, processors: f64) -> Self {
        let speed = |jobs: usize| (processors / jobs.max(1) as f64).min(1.0);
        let speeds = (0..=most).map(speed).map(|speed| (speed, speed.recip())).collect();
        Self { jobs: Vec::with_capacity(most), speeds, attained: 0.0, at: 0.0, next: f64::INFINITY }
    }

    #[inline]
    fn pass(&mut self, now: f64) {
        self.attained += (now - self.at) * self.speeds[self.jobs.len()].0;
        self.at = now;
    }

    #[inline]
    fn look_ahead(&mut self) {
        self.next = match self.jobs.last() {
            Some(first) => self.at + (first.done - self.attained).max(0.0) * self.speeds[self.jobs.len()].1,
            None => f64::INFINITY,
        };
    }

    fn rebase(&mut self) {
        for entry in &mut self.jobs {
            entry.done -= self.attained;
        }
        self.attained = 0.0;
    }
}

impl Processor for Sharing {
    type Request = Job;

    fn len(&self) -> usize {
        self.jobs.len()
    }

    #[inline]
    fn start(&mut self, now: f64, job: Job) {
        self.pass(now);
        if self.jobs.is_empty() {
            self.attained = 0.0;
        }
        let done = self.attained + job.demand;
        // Most jobs are short, and their place is near the end.
        let place = self.jobs.iter().rposition(|entry| entry.done > done).map_or(0, |before| before + 1);
        self.jobs.insert(place, Entry { done, job });
        self.look_ahead();
    }

    fn next(&self) -> f64 {
        self.next
    }

    #[inline]
    fn advance(&mut self, now: f64) -> Option<Job> {
        let entry = self.jobs.last().copied()?;
        self.at = now;
        self.attained = entry.done;
        self.jobs.pop();
        if self.attained > REBASE {
            self.rebase();
        }
        self.look_ahead();
        Some(entry.job)
    }
}
