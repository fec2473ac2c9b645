//! [`Ranked`]: those that rank first are worked on, and others wait, begun or not.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use slab::Slab;

use super::job::Job;
use super::processor::Processor;

/// By what requests rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The one that needs least until its end goes first.
    ShortestRemaining,
    /// The one that came last.
    LastCome,
    /// By class, in the model's order; within a class who came first.
    Class,
}

/// Jobs are worked on in the order of a rank, on a processor each. One that ranks before one under way takes its
/// processor, and that goes on later where it was.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    order: Order,
    processors: usize,
    jobs: Slab<Begun>,
    /// By their rank.
    running: BTreeSet<Place>,
    waiting: BTreeSet<Place>,
    /// Those that run, by when they end.
    ends: BTreeSet<Place>,
    came: u64,
}

#[derive(Debug, Clone, Copy)]
struct Begun {
    job: Job,
    /// Its number as they came.
    number: u64,
    /// What it still needs, while it waits.
    remaining: f64,
    /// When it ends, while it runs.
    end: f64,
}

/// A job by a number, less before more, and of equal ones who came first.
#[derive(Debug, Clone, Copy)]
struct Place {
    rank: f64,
    number: u64,
    key: usize,
}

impl Ranked {
    pub(crate) fn new(processors: usize, order: Order) -> Self {
        Self {
            order,
            processors,
            jobs: Slab::new(),
            running: BTreeSet::new(),
            waiting: BTreeSet::new(),
            ends: BTreeSet::new(),
            came: 0,
        }
    }

    /// Where a job ranks that needs so much, or, of those that run, would end then: these are compared with one another
    /// only, and all of them go on as fast.
    fn place(&self, key: usize, needs: f64) -> Place {
        let Begun { job, number, .. } = self.jobs[key];
        let rank = match self.order {
            Order::ShortestRemaining => needs,
            Order::LastCome => -(number as f64),
            Order::Class => f64::from(job.class),
        };
        Place { rank, number, key }
    }

    fn run(&mut self, now: f64, key: usize) {
        let end = now + self.jobs[key].remaining;
        self.jobs[key].end = end;
        self.running.insert(self.place(key, end));
        self.ends.insert(Place { rank: end, number: self.jobs[key].number, key });
    }

    /// It no longer runs.
    fn leave(&mut self, key: usize) {
        let Begun { number, end, .. } = self.jobs[key];
        self.running.remove(&self.place(key, end));
        self.ends.remove(&Place { rank: end, number, key });
    }

    fn wait(&mut self, key: usize) {
        self.waiting.insert(self.place(key, self.jobs[key].remaining));
    }
}

impl Processor for Ranked {
    type Request = Job;

    fn len(&self) -> usize {
        self.jobs.len()
    }

    fn working(&self) -> usize {
        self.running.len()
    }

    fn start(&mut self, now: f64, job: Job) {
        self.came += 1;
        let (number, remaining) = (self.came, job.demand);
        let key = self.jobs.insert(Begun { job, number, remaining, end: f64::INFINITY });
        if self.running.len() < self.processors {
            return self.run(now, key);
        }
        let as_if_run = self.place(key, now + remaining);
        match self.running.last().copied() {
            Some(last) if as_if_run < last => {
                self.leave(last.key);
                self.jobs[last.key].remaining = self.jobs[last.key].end - now;
                self.wait(last.key);
                self.run(now, key);
            }
            _ => self.wait(key),
        }
    }

    fn next(&self) -> f64 {
        self.ends.first().map_or(f64::INFINITY, |place| place.rank)
    }

    fn advance(&mut self, now: f64) -> Option<Job> {
        let done = self.ends.first()?.key;
        self.leave(done);
        if let Some(next) = self.waiting.pop_first() {
            self.run(now, next.key);
        }
        Some(self.jobs.remove(done).job)
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.total_cmp(&other.rank).then(self.number.cmp(&other.number))
    }
}
