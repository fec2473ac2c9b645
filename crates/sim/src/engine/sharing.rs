//! [`Sharing`]: processor sharing.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::job::Job;
use super::processor::Processor;

/// All jobs are worked on at once, each at the same speed.
///
/// The service that each job has attained since the server was empty is the *virtual time*; a job
/// that starts at virtual time `v` is done at `v + demand`, whatever comes and goes meanwhile, so
/// jobs are kept in the order of that.
#[derive(Debug, Clone)]
pub(crate) struct Sharing {
    jobs: Jobs,
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

/// In the order in which they are done.
#[derive(Debug, Clone)]
enum Jobs {
    /// The next one last. With few of them nothing is faster.
    Line(Vec<Entry>),
    Heap(BinaryHeap<Entry>),
}

/// More are put into a heap, until all are done.
const LINE: usize = 128;

impl Jobs {
    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::Line(line) => line.len(),
            Self::Heap(heap) => heap.len(),
        }
    }

    #[inline]
    fn add(&mut self, entry: Entry) {
        match self {
            Self::Line(line) if line.len() < LINE => {
                // Most jobs are short, and their place is near the end.
                let before = line.iter().rposition(|other| other.done > entry.done);
                line.insert(before.map_or(0, |before| before + 1), entry);
            }
            Self::Line(line) => {
                let mut heap = BinaryHeap::from(std::mem::take(line));
                heap.push(entry);
                *self = Self::Heap(heap);
            }
            Self::Heap(heap) => heap.push(entry),
        }
    }

    #[inline]
    fn first(&self) -> Option<&Entry> {
        match self {
            Self::Line(line) => line.last(),
            Self::Heap(heap) => heap.peek(),
        }
    }

    #[inline]
    fn take(&mut self) -> Option<Entry> {
        let heap = match self {
            Self::Line(line) => return line.pop(),
            Self::Heap(heap) => heap,
        };
        let first = heap.pop();
        if heap.is_empty() {
            *self = Self::Line(Vec::with_capacity(LINE));
        }
        first
    }

    /// Moves all of them to an earlier time.
    fn advance(&mut self, by: f64) {
        let moved = |entry: &mut Entry| entry.done -= by;
        match self {
            Self::Line(line) => line.iter_mut().for_each(moved),
            Self::Heap(heap) => {
                let mut entries = std::mem::take(heap).into_vec();
                entries.iter_mut().for_each(moved);
                *heap = entries.into();
            }
        }
    }
}

/// Who is done first is the greatest, of equals who came first.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.done.total_cmp(&self.done).then(other.job.arrived.total_cmp(&self.job.arrived))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// Virtual time begins anew beyond this, so that adding to it loses nothing that matters: the
/// distance between two numbers here is a picosecond.
const REBASE: f64 = 4096.0;

impl Sharing {
    /// Room for `most` jobs on so many `processors`, of which a job uses one at most.
    pub(crate) fn new(most: usize, processors: f64) -> Self {
        let speed = |jobs: usize| (processors / jobs.max(1) as f64).min(1.0);
        let speeds = (0..=most).map(speed).map(|speed| (speed, speed.recip())).collect();
        Self {
            jobs: Jobs::Line(Vec::with_capacity(most.min(LINE))),
            speeds,
            attained: 0.0,
            at: 0.0,
            next: f64::INFINITY,
        }
    }

    #[inline]
    fn pass(&mut self, now: f64) {
        self.attained += (now - self.at) * self.speeds[self.jobs.len()].0;
        self.at = now;
    }

    #[inline]
    fn look_ahead(&mut self) {
        self.next = match self.jobs.first() {
            Some(first) => self.at + (first.done - self.attained).max(0.0) * self.speeds[self.jobs.len()].1,
            None => f64::INFINITY,
        };
    }

    fn rebase(&mut self) {
        self.jobs.advance(self.attained);
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
        if self.jobs.len() == 0 {
            self.attained = 0.0;
        }
        self.jobs.add(Entry { done: self.attained + job.demand, job });
        self.look_ahead();
    }

    fn next(&self) -> f64 {
        self.next
    }

    #[inline]
    fn advance(&mut self, now: f64) -> Option<Job> {
        let entry = self.jobs.take()?;
        self.at = now;
        self.attained = entry.done;
        if self.attained > REBASE {
            self.rebase();
        }
        self.look_ahead();
        Some(entry.job)
    }
}
