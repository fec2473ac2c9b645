//! [`Tally`]: requests summed up by class and phase.

use record::{Clock, Histogram, PhaseName};
use units::{Bytes, Span};

use super::{Classes, Finished, Usage};

/// Durations of one phase by one clock.
#[derive(Debug, Clone)]
pub(crate) struct Durations {
    pub(crate) histogram: Histogram,
    /// In seconds squared.
    pub(crate) sum_of_squares: f64,
}

impl Durations {
    fn new() -> Self {
        Self { histogram: Histogram::coarse(), sum_of_squares: 0.0 }
    }

    fn record(&mut self, duration: Span) {
        self.histogram.record(duration);
        self.sum_of_squares += duration.as_secs_f64().powi(2);
    }

    fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram);
        self.sum_of_squares += other.sum_of_squares;
    }
}

/// Sums over requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub(crate) requests: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) used: Usage,
}

/// Requests of one class.
#[derive(Debug, Clone)]
pub(crate) struct OfClass {
    pub(crate) sums: Sums,
    /// By phase and clock.
    phases: [[Durations; 2]; 3],
}

impl OfClass {
    fn new() -> Self {
        Self {
            sums: Sums::default(),
            phases: std::array::from_fn(|_| std::array::from_fn(|_| Durations::new())),
        }
    }

    pub(crate) fn durations(&self, phase: PhaseName, clock: Clock) -> &Durations {
        &self.phases[phase as usize][clock as usize]
    }

    fn count(&mut self, request: &Finished) {
        self.sums.requests += 1;
        self.sums.bytes_sent += request.bytes_sent;
        for (phase, used) in PhaseName::ALL.into_iter().zip(&request.used) {
            self.sums.used += *used;
            let clocks = &mut self.phases[phase as usize];
            clocks[Clock::Cpu as usize].record(used.cpu());
            clocks[Clock::Elapsed as usize].record(request.elapsed(phase));
        }
    }

    fn add(&mut self, other: &Self) {
        self.sums.requests += other.sums.requests;
        self.sums.bytes_sent += other.sums.bytes_sent;
        self.sums.used += other.sums.used;
        for (mine, theirs) in self.phases.iter_mut().flatten().zip(other.phases.iter().flatten()) {
            mine.add(theirs);
        }
    }
}

/// Requests by class, and what belongs to no class.
#[derive(Debug, Clone)]
pub struct Tally {
    pub(crate) classes: Vec<OfClass>,
    /// How long requests were followed from their beginning.
    pub(crate) watched: Span,
    /// From when a connection was established to when it was accepted.
    pub(crate) accept_wait: Histogram,
    /// From when a request could have been read to when it was.
    pub(crate) read_wait: Histogram,
    pub(crate) connections: u64,
    pub(crate) counts: Counts,
}

/// Requests that are not among those of the classes, or not as they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counts {
    /// Begun, and not ended when no more could be waited for.
    pub unfinished: u64,
    /// Ended without a response.
    pub unanswered: u64,
    /// Connections that ended before the server had parsed anything, and bytes that it could not parse.
    pub unparsed: u64,
    /// Known to the kernel's half only, since this one did not keep up.
    pub lost: u64,
    /// Connections that were more than can be followed at once.
    pub crowded: u64,
}

impl Tally {
    pub(crate) fn new(classes: usize) -> Self {
        Self {
            classes: (0..classes).map(|_| OfClass::new()).collect(),
            watched: Span::ZERO,
            accept_wait: Histogram::coarse(),
            read_wait: Histogram::coarse(),
            connections: 0,
            counts: Counts::default(),
        }
    }

    pub(crate) fn count(&mut self, request: &Finished, classes: &Classes) {
        if request.number == 1
            && let Some(established) = request.established
        {
            self.connections += 1;
            if let Some(accepted) = request.accepted {
                self.accept_wait.record(accepted.since(established));
            }
        }
        self.read_wait.record(request.read.since(request.began));
        match (request.parsed, request.sent) {
            (None, _) => self.counts.unparsed += 1,
            (Some(_), None) => self.counts.unanswered += 1,
            (Some(_), Some(_)) => self.classes[classes.of(Bytes(request.bytes_sent))].count(request),
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.add(theirs);
        }
        self.watched += other.watched;
        self.accept_wait.add(&other.accept_wait);
        self.read_wait.add(&other.read_wait);
        self.connections += other.connections;
        self.counts.unfinished += other.counts.unfinished;
        self.counts.unanswered += other.counts.unanswered;
        self.counts.unparsed += other.counts.unparsed;
        self.counts.lost += other.counts.lost;
        self.counts.crowded += other.counts.crowded;
    }
}
