//! [`Retrying`]: requests that are sent again when they are rejected.

use std::collections::BinaryHeap;

use rand::Rng;
use rand_distr::{Distribution, Exp1};

use super::delay::Ending;
use super::processor::Job;
use super::source::{Fate, Open, Source};
use crate::draw::Random;
use crate::model::Retries;

/// Open arrivals of which some come back after a rejection. Latency counts from the first attempt.
#[derive(Debug, Clone)]
pub(crate) struct Retrying {
    first: Open,
    again: BinaryHeap<Ending>,
    retries: Retries,
    random: Random,
}

impl Retrying {
    pub(crate) fn new(first: Open, retries: Retries, random: Random) -> Self {
        Self { first, again: BinaryHeap::new(), retries, random }
    }

    fn next_again(&self) -> f64 {
        self.again.peek().map_or(f64::INFINITY, |ending| ending.at)
    }
}

impl Source for Retrying {
    fn next(&self) -> f64 {
        self.first.next().min(self.next_again())
    }

    fn take(&mut self) -> Job {
        if self.next_again() <= self.first.next()
            && let Some(ending) = self.again.pop()
        {
            return ending.job;
        }
        self.first.take()
    }

    fn learn(&mut self, now: f64, job: &Job, fate: Fate) {
        // Whose it is, of an open source, is how often it has come back.
        let back = fate == Fate::Rejected
            && job.whose < self.retries.most
            && self.random.random::<f64>() < self.retries.share;
        if back {
            let unit: f64 = Exp1.sample(&mut self.random);
            let job = Job { whose: job.whose + 1, ..*job };
            self.again.push(Ending { at: now + unit * self.retries.delay, job });
        }
    }
}
