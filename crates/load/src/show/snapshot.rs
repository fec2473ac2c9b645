//! [`Snapshot`]: a run at one moment, all that a view may want to know.

use std::collections::BTreeMap;

use record::{ErrorCounts, LatencySummary, ObjectiveResult, Quantiles, Window};
use stats::Histogram;
use units::{Rate, Span, Time};

/// What is known before a run begins.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// Where requests go.
    pub(crate) target: String,
    /// How much of what, in a few words.
    pub(crate) load: String,
    pub(crate) window: Window,
    /// Whether the workload has sessions.
    pub(crate) sessions: bool,
}

/// A run at one moment, about once a second. The thread that makes it gives it away, so that nothing
/// that is done with it takes time from the measurement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// Since the run began.
    pub(crate) now: Time,
    /// Since the snapshot before.
    pub(crate) elapsed: Span,
    /// Requests or sessions that the schedule wants per second now; `None` in a closed loop.
    pub(crate) offered: Option<Rate>,
    pub(crate) level: Option<Level>,
    /// Requests, or sessions, under way.
    pub(crate) running: u64,
    /// Connections open now.
    pub(crate) connections: u64,
    pub(crate) recent: Recent,
    pub(crate) whole: Whole,
    /// How each objective stands, of the whole window so far.
    pub(crate) objectives: Vec<ObjectiveResult>,
    pub(crate) generator: Generator,
}

/// Where a ramp has arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) of: usize,
    pub(crate) value: f64,
    /// What `value` counts, such as `requests/s` or `clients`.
    pub(crate) unit: &'static str,
}

/// What came to an end since the snapshot before, inside the measuring window or not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recent {
    /// Requests begun.
    pub(crate) requests: u64,
    pub(crate) responses: u64,
    /// Bytes of response bodies.
    pub(crate) bytes: u64,
    pub(crate) errors: ErrorCounts,
    pub(crate) sessions_completed: u64,
    pub(crate) sessions_lost: u64,
    pub(crate) latency: Latencies,
}

/// What the summary would say if the run ended now: the measuring window up to this snapshot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Whole {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: ErrorCounts,
    pub(crate) status: BTreeMap<u16, u64>,
    /// Requests cut off, whose latency is longer than what the histograms hold.
    pub(crate) censored: u64,
    /// Sessions completed, or responses received, inside the window: the work that its rate is of.
    pub(crate) done_inside: u64,
    pub(crate) opened: u64,
    pub(crate) reused: u64,
    pub(crate) syn_retransmits: u64,
    /// Connections that did not come about in time.
    pub(crate) connect_timeouts: u64,
    pub(crate) latency: Latencies,
}

/// The generator itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Generator {
    /// Share of one processor that the busiest thread used since the snapshot before.
    pub(crate) cpu: f64,
    /// How late it began what the schedule wanted, in the window so far.
    pub(crate) lag_p99: Span,
    pub(crate) lag_max: Span,
    /// Why the result would not be valid if the run ended now.
    pub(crate) why_invalid: Vec<String>,
}

/// Latencies, whole and in their phases.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies {
    pub(crate) total: Histogram,
    /// Of connections that were opened.
    pub(crate) connect: Histogram,
    pub(crate) processing: Histogram,
    pub(crate) transfer: Histogram,
}

impl Latencies {
    pub(crate) const NAMES: [&'static str; 4] = ["total", "connect", "processing", "transfer"];

    /// In the order of [`Latencies::NAMES`].
    pub(crate) fn histograms(&self) -> [&Histogram; 4] {
        [&self.total, &self.connect, &self.processing, &self.transfer]
    }

    pub(crate) fn summary(&self) -> LatencySummary {
        let [total, connect, processing, transfer] = self.histograms().map(Quantiles::of);
        LatencySummary { total, connect, processing, transfer, ..LatencySummary::default() }
    }
}

/// What part of a run it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Load is on, nothing counts.
    WarmUp,
    Measuring,
    /// The window has closed; what began in it is followed to its end.
    Following,
}

impl Stage {
    pub(crate) const ALL: [Self; 3] = [Self::WarmUp, Self::Measuring, Self::Following];

    pub(crate) fn at(time: Time, window: Window) -> Self {
        match time.as_nanos() {
            at if at < window.from_ns => Self::WarmUp,
            at if at < window.to_ns => Self::Measuring,
            _ => Self::Following,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Measuring => "measuring",
            Self::Following => "following",
        }
    }
}

impl Snapshot {
    /// The stage that most of the time since the snapshot before belongs to.
    pub(crate) fn stage(&self, window: Window) -> Stage {
        Stage::at(self.now - self.elapsed / 2, window)
    }

    /// Per second, since the snapshot before.
    pub(crate) fn rate(&self, count: u64) -> f64 {
        Rate::of(count, self.elapsed).as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_belongs_to_the_stage_that_most_of_its_time_lies_in() {
        let window = Window::new(Time::from_nanos(2_400_000_000), Span::from_secs(10));
        let stage = |seconds| {
            let now = Time::ZERO + Span::from_secs(seconds);
            Snapshot { now, elapsed: Span::from_secs(1), ..Snapshot::default() }.stage(window)
        };
        assert_eq!([2, 3, 12, 13].map(stage), {
            use Stage::{Following, Measuring, WarmUp};
            [WarmUp, Measuring, Measuring, Following]
        });
    }
}
