//! [`Any`]: a processor of any discipline, where it need not be the fastest.

use super::job::Job;
use super::processor::Processor;
use super::ranked::{Order, Ranked};
use super::sharing::Sharing;
use super::slices::Slices;
use crate::model::Discipline;

/// A processor of any discipline.
#[derive(Debug, Clone)]
pub(crate) enum Any {
    Sharing(Sharing),
    Slices(Slices),
    Ranked(Ranked),
}

impl Any {
    /// Room for `most` jobs.
    pub(crate) fn new(discipline: Discipline, most: usize, processors: u32) -> Self {
        let (number, speed) = (processors as usize, f64::from(processors));
        let ranked = |order| Self::Ranked(Ranked::new(number, order));
        match discipline {
            Discipline::Sharing => Self::Sharing(Sharing::new(most, speed)),
            Discipline::RoundRobin(quantum) => Self::Slices(Slices::new(most, number, quantum.as_secs_f64())),
            Discipline::FirstCome => Self::Slices(Slices::new(most, number, f64::INFINITY)),
            Discipline::LastCome => ranked(Order::LastCome),
            Discipline::ShortestRemaining => ranked(Order::ShortestRemaining),
            Discipline::Priority => ranked(Order::Class),
        }
    }
}

macro_rules! each {
    ($any:expr, $one:ident => $what:expr) => {
        match $any {
            Any::Sharing($one) => $what,
            Any::Slices($one) => $what,
            Any::Ranked($one) => $what,
        }
    };
}

impl Processor for Any {
    type Request = Job;

    fn len(&self) -> usize {
        each!(self, one => one.len())
    }

    fn working(&self) -> usize {
        each!(self, one => one.working())
    }

    fn start(&mut self, now: f64, job: Job) {
        each!(self, one => one.start(now, job));
    }

    fn next(&self) -> f64 {
        each!(self, one => one.next())
    }

    fn advance(&mut self, now: f64) -> Option<Job> {
        each!(self, one => one.advance(now))
    }
}
