//! [`Quantiles`]: the figures of a distribution that summaries give.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stats::Histogram;

/// A distribution in a few numbers, times in seconds. With a `count` of 0 the others are 0 and
/// mean nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Quantiles {
    /// Arithmetic mean, s.
    pub mean: f64,
    /// Smallest, s.
    #[serde(default)]
    pub min: f64,
    /// Median, s.
    pub p50: f64,
    /// 90th percentile, s.
    pub p90: f64,
    /// 95th percentile, s.
    #[serde(default)]
    pub p95: f64,
    /// 99th percentile, s.
    pub p99: f64,
    /// 99.9th percentile, s.
    pub p999: f64,
    /// Largest, s.
    pub max: f64,
    /// How many.
    pub count: u64,
    /// Other percentiles that were asked for, s, by their names, such as `p99.99`.
    #[serde(flatten)]
    pub others: BTreeMap<String, f64>,
}

impl Quantiles {
    /// Of the latencies that a histogram holds.
    pub fn of(latencies: &Histogram) -> Self {
        let quantile = |share| latencies.quantile(share).as_secs_f64();
        Self {
            mean: latencies.mean().as_secs_f64(),
            min: latencies.min().as_secs_f64(),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: latencies.max().as_secs_f64(),
            count: latencies.count(),
            others: BTreeMap::new(),
        }
    }

    /// Whether there is nothing that they are of.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;

    #[test]
    fn they_are_those_of_the_histogram() {
        let mut histogram = Histogram::new();
        assert_eq!(Quantiles::of(&histogram), Quantiles::default());
        (1..=1000).for_each(|millis| histogram.record(Span::from_millis(millis)));
        let q = Quantiles::of(&histogram);
        assert_eq!((q.mean, q.min, q.max, q.count), (0.5005, 0.001, 1.0, 1000));
        for (measured, exact) in [(q.p50, 0.5), (q.p90, 0.9), (q.p95, 0.95), (q.p99, 0.99), (q.p999, 0.999)] {
            assert!((measured / exact - 1.0).abs() <= 1e-3, "{measured} for {exact}");
        }
    }
}
