//! [`Phase`]: the parts of a request's time; [`Phases`]: how long each took.

use record::{LatencySummary, Quantiles};
use stats::Histogram;

use crate::measure::finished::Finished;
use crate::measure::percentile::Percentile;

/// A part of the time of a request, or all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// From the intended time to the last byte.
    Total,
    /// Until work on it began.
    Queued,
    /// The look-up of the host's name.
    Dns,
    /// Until the connection stood.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Until a request that has a body was on its way.
    Sending,
    /// From the request written to the first byte of the response.
    Processing,
    /// From the first byte to the last.
    Transfer,
}

impl Phase {
    /// In the order in which a request goes through them, after their sum.
    pub(crate) const ALL: [Self; 8] = [
        Self::Total,
        Self::Queued,
        Self::Dns,
        Self::Connect,
        Self::Tls,
        Self::Sending,
        Self::Processing,
        Self::Transfer,
    ];

    /// Its name in records and on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Queued => "queued",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Sending => "sending",
            Self::Processing => "processing",
            Self::Transfer => "transfer",
        }
    }

    /// The phase of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }

    /// Its figures in a summary.
    pub(crate) fn of(self, latency: &LatencySummary) -> &Quantiles {
        match self {
            Self::Total => &latency.total,
            Self::Queued => &latency.queued,
            Self::Dns => &latency.dns,
            Self::Connect => &latency.connect,
            Self::Tls => &latency.tls,
            Self::Sending => &latency.sending,
            Self::Processing => &latency.processing,
            Self::Transfer => &latency.transfer,
        }
    }
}

/// A histogram for each phase.
#[derive(Debug, Clone, Default)]
pub(crate) struct Phases([Histogram; Phase::ALL.len()]);

impl Phases {
    /// Histograms that stay small, where there are many: their quantiles are within 1 %.
    pub(crate) fn coarse() -> Self {
        Self(std::array::from_fn(|_| Histogram::coarse()))
    }

    pub(crate) fn of(&self, phase: Phase) -> &Histogram {
        &self.0[phase as usize]
    }

    pub(crate) fn of_mut(&mut self, phase: Phase) -> &mut Histogram {
        &mut self.0[phase as usize]
    }

    /// Counts a request whose times are latencies.
    pub(crate) fn request(&mut self, finished: &Finished) {
        let mut record = |phase, span| self.of_mut(phase).record(span);
        record(Phase::Total, finished.latency());
        record(Phase::Queued, finished.queued());
        if !finished.reused {
            record(Phase::Connect, finished.connect);
            for (phase, span) in [(Phase::Dns, finished.dns), (Phase::Tls, finished.tls)] {
                if !span.is_zero() {
                    record(phase, span);
                }
            }
        }
        for (phase, span) in [
            (Phase::Sending, finished.sending),
            (Phase::Processing, finished.processing),
            (Phase::Transfer, finished.transfer),
        ] {
            if let Some(span) = span {
                record(phase, span);
            }
        }
    }

    /// Forgets everything, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(Histogram::clear);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| mine.add(theirs));
    }

    /// Their figures, with these percentiles besides the usual ones.
    pub(crate) fn summary(&self, percentiles: &[Percentile]) -> LatencySummary {
        let [total, queued, dns, connect, tls, sending, processing, transfer] = Phase::ALL.map(|phase| {
            let histogram = self.of(phase);
            let others = percentiles.iter().filter(|percentile| !percentile.is_usual());
            let others =
                others.map(|percentile| (percentile.to_string(), percentile.of(histogram).as_secs_f64()));
            Quantiles { others: others.collect(), ..Quantiles::of(histogram) }
        });
        LatencySummary { total, queued, dns, connect, tls, sending, processing, transfer }
    }
}
