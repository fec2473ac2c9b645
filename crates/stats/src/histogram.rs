//! [`Histogram`]: every latency of a run in bounded memory.

use units::Span;

/// Latencies to three significant digits; grows to hold whatever it is given, drops nothing.
///
/// The mean, the minimum and the maximum are exact; quantiles are the upper end of an interval that is at
/// most 0.1 % wide.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    /// Some 200 KB once there is something to count.
    counts: Option<hdrhistogram::Histogram<u64>>,
    coarse: bool,
    sum_ns: u128,
    /// [`Span::MAX`] less the shortest: zero when it is empty.
    below_max: Span,
    max: Span,
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty one that keeps two significant digits and stays small, where there are many: its
    /// quantiles are the upper end of an interval that is at most 1 % wide.
    pub fn coarse() -> Self {
        Self { coarse: true, ..Self::default() }
    }

    #[allow(clippy::expect_used, reason = "an invariant of constants")]
    fn counts(&mut self) -> &mut hdrhistogram::Histogram<u64> {
        let coarse = self.coarse;
        self.counts.get_or_insert_with(|| {
            if coarse {
                return hdrhistogram::Histogram::new(2).expect("two digits are within the library's bounds");
            }
            let mut counts = hdrhistogram::Histogram::new_with_bounds(1, Span::from_secs(60).as_nanos(), 3)
                .expect("1 ns to 60 s at three digits is within the library's bounds");
            counts.auto(true);
            counts
        })
    }

    /// Adds one latency.
    pub fn record(&mut self, latency: Span) {
        let counts = self.counts();
        // Growing fails only where an index does not fit into the machine's word.
        if counts.record(latency.as_nanos()).is_err() {
            counts.saturating_record(latency.as_nanos());
        }
        self.sum_ns += u128::from(latency.as_nanos());
        self.below_max = self.below_max.max(Span::MAX.saturating_sub(latency));
        self.max = self.max.max(latency);
    }

    /// Forgets all latencies, and keeps the memory.
    pub fn clear(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.reset();
        }
        (self.sum_ns, self.below_max, self.max) = (0, Span::ZERO, Span::ZERO);
    }

    /// Adds all latencies of `other`.
    pub fn add(&mut self, other: &Self) {
        let Some(theirs) = other.counts.as_ref().filter(|counts| !counts.is_empty()) else { return };
        // It fails only where an index does not fit into the machine's word.
        if self.counts().add(theirs).is_ok() {
            self.sum_ns += other.sum_ns;
            self.below_max = self.below_max.max(other.below_max);
            self.max = self.max.max(other.max);
        }
    }

    /// How many latencies it holds.
    pub fn count(&self) -> u64 {
        self.counts.as_ref().map_or(0, hdrhistogram::Histogram::len)
    }

    /// The latency that a share `quantile` of all is at or below; zero when it is empty.
    pub fn quantile(&self, quantile: f64) -> Span {
        match &self.counts {
            Some(counts) if !counts.is_empty() => {
                Span::from_nanos(counts.value_at_quantile(quantile)).min(self.max)
            }
            _ => Span::ZERO,
        }
    }

    /// How many latencies are above `bound`, to the histogram's three digits.
    pub fn count_above(&self, bound: Span) -> u64 {
        let Some(counts) = &self.counts else { return 0 };
        counts.len() - counts.count_between(0, bound.as_nanos())
    }

    /// How many latencies are in each interval that has any: its upper end, and the number.
    pub fn counts_by_interval(&self) -> impl Iterator<Item = (Span, u64)> {
        let recorded = self.counts.iter().flat_map(hdrhistogram::Histogram::iter_recorded);
        recorded.map(|step| (Span::from_nanos(step.value_iterated_to()), step.count_since_last_iteration()))
    }

    /// The latencies at shares of all that come ever closer to 1, `per_halving` of them until half as many are above:
    /// each with the share, and how many are at or below it.
    pub fn percentiles(&self, per_halving: u32) -> impl Iterator<Item = (Span, f64, u64)> {
        let mut below = 0;
        let steps = self.counts.iter().flat_map(move |counts| counts.iter_quantiles(per_halving));
        steps.map(move |step| {
            below += step.count_since_last_iteration();
            let latency = Span::from_nanos(step.value_iterated_to()).min(self.max);
            (latency, step.quantile_iterated_to(), below)
        })
    }

    /// The standard deviation, to the histogram's digits; zero when it is empty.
    pub fn standard_deviation(&self) -> Span {
        let nanos = self.counts.as_ref().map_or(0.0, hdrhistogram::Histogram::stdev);
        Span::from_nanos(nanos as u64)
    }

    /// How it is divided: into so many ranges, each twice as long as the one before, of so many intervals.
    pub fn buckets(&self) -> (u8, u32) {
        self.counts.as_ref().map_or((0, 0), |counts| {
            let intervals = 2 * 10_u32.pow(u32::from(counts.sigfig()));
            (counts.buckets(), intervals.next_power_of_two())
        })
    }

    /// The exact mean; zero when it is empty.
    pub fn mean(&self) -> Span {
        let count = u128::from(self.count().max(1));
        Span::from_nanos(u64::try_from(self.sum_ns / count).unwrap_or(u64::MAX))
    }

    /// The exact sum; [`Span::MAX`] where it is longer than that.
    pub fn sum(&self) -> Span {
        Span::from_nanos(u64::try_from(self.sum_ns).unwrap_or(u64::MAX))
    }

    /// The shortest latency; zero when it is empty.
    pub fn min(&self) -> Span {
        if self.count() == 0 { Span::ZERO } else { Span::MAX.saturating_sub(self.below_max) }
    }

    /// The longest latency; zero when it is empty.
    pub fn max(&self) -> Span {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thousand(mut histogram: Histogram) -> Histogram {
        (1..=1000).for_each(|millis| histogram.record(Span::from_millis(millis)));
        assert_eq!((histogram.mean(), histogram.count()), (Span::from_micros(500_500), 1000));
        assert_eq!(histogram.min(), Span::from_millis(1));
        assert_eq!(histogram.max(), Span::from_secs(1));
        histogram
    }

    #[test]
    fn quantiles_are_within_a_thousandth_and_mean_and_max_exact() {
        let histogram = thousand(Histogram::new());
        assert_eq!(histogram.sum(), Span::from_millis(500_500));
        assert_eq!(histogram.count_above(Span::from_millis(900)), 100);
        for exact in [0.5, 0.9, 0.99, 0.999] {
            let measured = histogram.quantile(exact).as_secs_f64();
            assert!((measured / exact - 1.0).abs() <= 1e-3, "{measured} for {exact}");
        }
    }

    #[test]
    fn nothing_is_dropped_however_long() {
        let mut histogram = Histogram::new();
        histogram.record(Span::ZERO);
        histogram.record(Span::from_secs(5 * 3600));
        assert_eq!((histogram.count(), histogram.max()), (2, Span::from_secs(18_000)));
        assert!((histogram.quantile(0.999).as_secs_f64() / 18_000.0 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_coarse_one_keeps_two_digits() {
        let p90 = thousand(Histogram::coarse()).quantile(0.9).as_secs_f64();
        assert!((p90 / 0.9 - 1.0).abs() <= 1e-2, "{p90}");
    }

    #[test]
    fn two_become_one() {
        let (mut one, mut other) = (Histogram::new(), Histogram::new());
        one.record(Span::from_millis(1));
        other.record(Span::from_secs(100));
        one.add(&other);
        one.add(&Histogram::new());
        assert_eq!((one.count(), one.max()), (2, Span::from_secs(100)));
        assert_eq!(one.mean(), Span::from_nanos(50_000_500_000));
        one.clear();
        assert_eq!((one.count(), one.max(), one.mean()), (0, Span::ZERO, Span::ZERO));
    }
}
