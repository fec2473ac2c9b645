//! [`Closed`]: clients that wait for their answers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_distr::{Distribution, Exp1};

use super::processor::Job;
use super::source::{Draw, Fate, Source};
use crate::draw::Random;

/// A number of clients, each of which thinks for an exponential time, sends a request, waits until
/// it is served or rejected, and thinks again.
#[derive(Debug, Clone)]
pub(crate) struct Closed {
    /// Clients that think, and until when; the earliest first.
    thinking: BinaryHeap<Reverse<Until>>,
    /// Mean, in seconds.
    think: f64,
    draw: Draw,
    random: Random,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Until {
    at: f64,
    client: u32,
}

impl Closed {
    pub(crate) fn new(clients: u32, think: f64, draw: Draw, random: Random) -> Self {
        let mut closed = Self { thinking: BinaryHeap::with_capacity(clients as usize), think, draw, random };
        (0..clients).for_each(|client| closed.think(0.0, client));
        closed
    }

    fn think(&mut self, now: f64, client: u32) {
        let unit: f64 = Exp1.sample(&mut self.random);
        self.thinking.push(Reverse(Until { at: now + unit * self.think, client }));
    }
}

impl Source for Closed {
    fn next(&self) -> f64 {
        self.thinking.peek().map_or(f64::INFINITY, |Reverse(until)| until.at)
    }

    fn take(&mut self) -> Job {
        let Until { at, client } = self.thinking.pop().map_or(Until { at: 0.0, client: 0 }, |first| first.0);
        self.draw.job(at, client)
    }

    fn learn(&mut self, now: f64, job: &Job, _: Fate) {
        self.think(now, job.whose);
    }
}

impl Eq for Until {}

impl PartialOrd for Until {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Until {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.total_cmp(&other.at).then(self.client.cmp(&other.client))
    }
}
