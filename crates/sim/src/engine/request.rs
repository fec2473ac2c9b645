//! [`Request`]: a job, and what it needs besides a processor.

use std::fmt::Debug;

use rand::RngCore;
use rand_distr::{Distribution, StandardNormal};

use super::job::Job;
use crate::draw::{Demands, Random, Role, Seed};

/// What comes to a server: a [`Job`] where there is nothing but a processor, so that it is no larger
/// than it has to be, and an [`Equipped`] one otherwise.
pub(crate) trait Request: Copy + Debug {
    /// A request that needs so much of a processor; what it needs besides is drawn.
    fn new(job: Job, besides: &mut Besides) -> Self;

    fn job(&self) -> &Job;

    /// The same request, of somebody else to its source.
    fn of(self, whose: u32) -> Self;

    /// The same request, which needs so many seconds more of a processor.
    fn costing(self, more: f64) -> Self;

    /// The same request, of which chance decides anew what it needs of processors: so much of the server's.
    fn anew(self, demand: f64, random: &mut Random) -> Self;
}

/// Draws what requests need besides, when they come: what becomes of others does not change it.
#[derive(Debug, Clone)]
pub(crate) struct Besides {
    demands: Demands,
    disk: Random,
    calls: Random,
    size: Random,
}

impl Besides {
    pub(super) fn new(demands: Demands, seed: Seed) -> Self {
        let [disk, calls, size] = [Role::Disk, Role::Calls, Role::Size].map(|role| seed.stream(role));
        Self { demands, disk, calls, size }
    }
}

/// A request that may need a disk, and whose response has a size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Equipped {
    pub(super) job: Job,
    /// Of the mean time that its class needs of a disk.
    pub(super) disk: f64,
    /// Where the random numbers begin by which it makes its calls.
    pub(super) calls: u64,
    /// From which the size is computed by the law of its class.
    pub(super) normal: f64,
}

impl Request for Job {
    #[inline]
    fn new(job: Job, _: &mut Besides) -> Self {
        job
    }

    #[inline]
    fn job(&self) -> &Job {
        self
    }

    fn of(self, whose: u32) -> Self {
        Self { whose, ..self }
    }

    fn costing(self, more: f64) -> Self {
        Self { demand: self.demand + more, ..self }
    }

    fn anew(self, demand: f64, _: &mut Random) -> Self {
        Self { demand, ..self }
    }
}

impl Request for Equipped {
    /// As many random numbers for each, whether its class needs them or not.
    fn new(job: Job, besides: &mut Besides) -> Self {
        let disk = besides.demands.sample(&mut besides.disk);
        let calls = besides.calls.next_u64();
        Self { job, disk, calls, normal: StandardNormal.sample(&mut besides.size) }
    }

    fn job(&self) -> &Job {
        &self.job
    }

    fn of(self, whose: u32) -> Self {
        Self { job: self.job.of(whose), ..self }
    }

    fn costing(self, more: f64) -> Self {
        Self { job: self.job.costing(more), ..self }
    }

    fn anew(self, demand: f64, random: &mut Random) -> Self {
        Self { job: self.job.anew(demand, random), calls: random.next_u64(), ..self }
    }
}
