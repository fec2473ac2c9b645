//! [`Watch`]: what is written down while the simulation runs.

use stats::LogHistogram;

use crate::course::Course;
use crate::levels::Levels;

/// What came out in a stretch of a simulation, per class.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    /// When it began and ended, in seconds.
    pub(crate) began: f64,
    pub(crate) ended: f64,
    /// Processors at work and requests present, each times seconds.
    pub(crate) busy: f64,
    pub(crate) present: f64,
    pub(crate) classes: Vec<ClassCounts>,
    pub(crate) tiers: Vec<TierUse>,
    /// Where it is wanted how many waited and how many had a thread.
    pub(crate) levels: Option<Levels>,
    /// Where it is wanted how many were answered in time, over time.
    pub(crate) course: Option<Course>,
}

/// What was used of a tier behind the server: processors at work, threads in use and calls that wait for one, each times
/// seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TierUse {
    pub(crate) busy: f64,
    pub(crate) held: f64,
    pub(crate) waiting: f64,
}

impl TierUse {
    /// Of each tier, what was used of it since `before`.
    pub(crate) fn since(now: Vec<Self>, before: Vec<Self>) -> Vec<Self> {
        let less = |(now, before): (Self, Self)| Self {
            busy: now.busy - before.busy,
            held: now.held - before.held,
            waiting: now.waiting - before.waiting,
        };
        now.into_iter().zip(before).map(less).collect()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.busy += other.busy;
        self.held += other.held;
        self.waiting += other.waiting;
    }
}

/// Requests of one class: how many came, and what became of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClassCounts {
    pub(crate) arrived: u64,
    pub(crate) rejected: u64,
    /// Answered when their client had given up.
    pub(crate) too_late: u64,
    /// Of both those that no client sends again.
    pub(crate) lost: u64,
    pub(crate) latencies: LogHistogram,
}

impl Watch {
    pub(crate) fn new(classes: usize) -> Self {
        Self { classes: vec![ClassCounts::default(); classes], ..Self::default() }
    }

    #[inline]
    pub(crate) fn arrived(&mut self, class: u32, accepted: bool) {
        if let Some(seen) = self.classes.get_mut(class as usize) {
            seen.arrived += 1;
            seen.rejected += u64::from(!accepted);
        }
    }

    pub(crate) fn too_late(&mut self, class: u32, is_lost: bool) {
        if let Some(seen) = self.classes.get_mut(class as usize) {
            seen.too_late += 1;
            seen.lost += u64::from(is_lost);
        }
    }

    pub(crate) fn lost(&mut self, class: u32) {
        if let Some(seen) = self.classes.get_mut(class as usize) {
            seen.lost += 1;
        }
    }

    #[inline]
    pub(crate) fn served(&mut self, class: u32, latency: f64) {
        if let Some(seen) = self.classes.get_mut(class as usize) {
            seen.latencies.record(latency);
        }
    }

    pub(crate) fn elapsed(&self) -> f64 {
        self.ended - self.began
    }

    pub(crate) fn total(&self) -> ClassCounts {
        let mut total = ClassCounts::default();
        self.classes.iter().for_each(|seen| total.add(seen));
        total
    }
}

impl ClassCounts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.arrived += other.arrived;
        self.rejected += other.rejected;
        self.too_late += other.too_late;
        self.lost += other.lost;
        self.latencies.add(&other.latencies);
    }
}
