//! [`SessionTally`]: what came of the sessions of one class in one replication.

use stats::LogHistogram;
use units::Span;

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Completed,
    Refused,
    TimedOut,
}

/// Sessions of one class, while they are simulated.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionTally {
    pub(super) started: u64,
    completed: u64,
    refused: u64,
    timed_out: u64,
    pub(super) retried: u64,
    response: LogHistogram,
    duration: LogHistogram,
}

/// What is left of a [`SessionTally`] when its sessions have been simulated: no histograms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary {
    pub(crate) started: f64,
    pub(crate) completed: f64,
    pub(crate) refused: f64,
    pub(crate) timed_out: f64,
    pub(crate) retried: f64,
    pub(crate) response: Digest,
    pub(crate) duration: Digest,
}

/// A distribution, in seconds; not numbers when nothing was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Digest {
    pub(crate) mean: f64,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
}

impl SessionTally {
    /// Adds what `other` has seen.
    pub(super) fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.completed += other.completed;
        self.refused += other.refused;
        self.timed_out += other.timed_out;
        self.retried += other.retried;
        self.response.add(&other.response);
        self.duration.add(&other.duration);
    }

    /// A request was answered.
    pub(super) fn answered(&mut self, after: Span) {
        self.response.record(after.as_secs_f64());
    }

    /// A session ended, which took so long without its pauses.
    pub(super) fn ended(&mut self, fate: Fate, duration: Span) {
        match fate {
            Fate::Completed => {
                self.completed += 1;
                self.duration.record(duration.as_secs_f64());
            }
            Fate::Refused => self.refused += 1,
            Fate::TimedOut => self.timed_out += 1,
        }
    }

    pub(super) fn summary(&self) -> Summary {
        Summary {
            started: self.started as f64,
            completed: self.completed as f64,
            refused: self.refused as f64,
            timed_out: self.timed_out as f64,
            retried: self.retried as f64,
            response: Digest::of(&self.response),
            duration: Digest::of(&self.duration),
        }
    }
}

impl Digest {
    fn of(latencies: &LogHistogram) -> Self {
        let [p50, p90, p95, p99, p999] =
            [0.5, 0.9, 0.95, 0.99, 0.999].map(|portion| latencies.quantile(portion));
        Self { mean: latencies.mean(), p50, p90, p95, p99, p999 }
    }
}
