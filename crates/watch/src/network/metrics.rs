//! Rates, by the names that they have in the record.

use catalogue::Metric;
use catalogue::watch::network as metrics;
use serde::Serialize;

use super::sample::{Interface, Sample};

/// What went over an interface between two samples, per second.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[expect(missing_docs, reason = "as in `super::Direction`")]
pub struct Rates {
    pub received_bytes: f64,
    pub received_packets: f64,
    pub received_errors: f64,
    pub received_drops: f64,
    pub sent_bytes: f64,
    pub sent_packets: f64,
    pub sent_errors: f64,
    pub sent_drops: f64,
}

impl Rates {
    /// Its figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::RECEIVED_BYTES, self.received_bytes),
            (metrics::RECEIVED_DROPS, self.received_drops),
            (metrics::RECEIVED_ERRORS, self.received_errors),
            (metrics::RECEIVED_PACKETS, self.received_packets),
            (metrics::SENT_BYTES, self.sent_bytes),
            (metrics::SENT_DROPS, self.sent_drops),
            (metrics::SENT_ERRORS, self.sent_errors),
            (metrics::SENT_PACKETS, self.sent_packets),
        ];
        figures.into_iter()
    }
}

/// The rates between two samples, of every interface that is in both.
pub fn rates(before: &Sample, after: &Sample) -> impl Iterator<Item = (String, Rates)> {
    let seconds = after.uptime.saturating_sub(before.uptime).as_secs_f64();
    after.interfaces.iter().filter_map(move |(name, after)| {
        let before = before.interfaces.get(name)?;
        let rate = |of: fn(&Interface) -> u64| of(after).saturating_sub(of(before)) as f64 / seconds;
        let rates = Rates {
            received_bytes: rate(|interface| interface.received.bytes),
            received_packets: rate(|interface| interface.received.packets),
            received_errors: rate(|interface| interface.received.errors),
            received_drops: rate(|interface| interface.received.drops),
            sent_bytes: rate(|interface| interface.sent.bytes),
            sent_packets: rate(|interface| interface.sent.packets),
            sent_errors: rate(|interface| interface.sent.errors),
            sent_drops: rate(|interface| interface.sent.drops),
        };
        Some((name.clone(), rates))
    })
}
