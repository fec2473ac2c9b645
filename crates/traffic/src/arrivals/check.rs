//! [`PoissonCheck`]: were Poisson arrivals Poisson?

use stats::goodness;
use units::Span;

/// With this number of bins the chi-square distribution has an even number of degrees of
/// freedom, and its tail is a finite sum.
const BINS: usize = 21;

/// With fewer, less than five are expected in a bin: the chi-square distribution is not a good
/// approximation then.
const MIN_GROUPS: u64 = 5 * BINS as u64;

/// A larger sample is judged as one of this size that is distributed alike: a generator is never
/// exact, and a sample that is large enough proves even what does not change any result.
const MAX_JUDGED: f64 = 10_000.0;

/// Gaps are looked at one by one only from this length on; shorter ones in groups that take so
/// long together. A start that is late by some microseconds ruins the distribution of gaps that
/// are no longer themselves, but not the load that a server sees.
const SCALE: Span = Span::from_millis(20);

/// The probability of a group is a sum of as many terms; beyond some seven hundred the smallest
/// is too small for an `f64`.
const MAX_GROUP: u32 = 500;

/// Tests, while a run goes on, whether the times between starts are exponentially distributed.
///
/// A gap divided by the mean that was expected of it is exponential with mean 1 when arrivals
/// are Poisson, whatever the rate does over time, and the sum of several has the distribution of
/// Erlang. Groups of gaps, which take 20 ms together, or single gaps where they are longer, are
/// counted in bins of equal probability; Pearson's chi-square test compares the counts with what
/// is expected. Memory does not grow.
///
/// ```
/// use traffic::{Arrivals, PoissonCheck, Process, Profile};
/// use units::{Rate, Time};
///
/// let rate: Rate = "40".parse()?;
/// let mut check = PoissonCheck::new();
/// let mut before = Time::ZERO;
/// for arrival in Arrivals::new(Process::Constant, &Profile::constant(rate), 1.0, 1, 0).take(200) {
///     check.record(arrival.since(before), rate.period());
///     before = arrival;
/// }
/// assert!(check.verdict().is_some_and(|p| p < PoissonCheck::SUSPICIOUS));
/// # Ok::<(), units::ParseError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PoissonCheck {
    counts: [u64; BINS],
    /// Gaps in a group; 0 before the first of one.
    size: u32,
    /// Of these, how many have come.
    come: u32,
    /// Their sum, each divided by its mean.
    sum: f64,
}

impl PoissonCheck {
    /// A p-value below this says that arrivals were not Poisson. One sound run in ten thousand
    /// has one.
    pub const SUSPICIOUS: f64 = 1e-4;

    /// Nothing recorded.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the time from one start to the next, where `expected_mean` was wanted on average
    /// at that point of the run.
    pub fn record(&mut self, gap: Span, expected_mean: Span) {
        let mean_ns = expected_mean.as_nanos().max(1);
        if self.come == 0 {
            let size = SCALE.as_nanos().div_ceil(mean_ns);
            self.size = u32::try_from(size).map_or(MAX_GROUP, |size| size.clamp(1, MAX_GROUP));
        }
        self.come += 1;
        self.sum += gap.as_nanos() as f64 / mean_ns as f64;
        if self.come == self.size {
            let bin = ((1.0 - goodness::erlang_tail(self.size, self.sum)) * BINS as f64) as usize;
            if let Some(count) = self.counts.get_mut(bin.min(BINS - 1)) {
                *count += 1;
            }
            self.come = 0;
            self.sum = 0.0;
        }
    }

    /// How probable it is that Poisson arrivals look this little like Poisson; compare with
    /// [`PoissonCheck::SUSPICIOUS`]. `None` below a hundred-odd groups (2.1 s or 105 gaps,
    /// whichever is longer), which prove nothing.
    pub fn verdict(&self) -> Option<f64> {
        let recorded: u64 = self.counts.iter().sum();
        if recorded < MIN_GROUPS {
            return None;
        }
        let expected = recorded as f64 / BINS as f64;
        let squares = goodness::chi_square(self.counts.iter().map(|count| (*count, expected)));
        let judged = squares * (MAX_JUDGED / recorded as f64).min(1.0);
        Some(goodness::chi_square_tail((BINS as u32 - 1) / 2, judged))
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use units::{Rate, Time};

    use super::*;
    use crate::{Arrivals, Process, Profile};

    /// The verdict on `gaps` arrivals of `process` when starts are as late as `start` makes them.
    fn verdict(
        process: Process,
        per_second: f64,
        seed: u64,
        gaps: usize,
        mut start: impl FnMut(u64) -> u64,
    ) -> Option<f64> {
        let rate = Rate::per_second(per_second).unwrap();
        let mut check = PoissonCheck::new();
        let mut before = Time::ZERO;
        for arrival in Arrivals::new(process, &Profile::constant(rate), 1.0, seed, 0).take(gaps) {
            let start = Time::from_nanos(start(arrival.as_nanos()));
            check.record(start.since(before), rate.period());
            before = start;
        }
        check.verdict()
    }

    fn on_time(arrival: u64) -> u64 {
        arrival
    }

    #[test]
    fn few_gaps_prove_nothing() {
        assert_eq!(verdict(Process::Constant, 20.0, 1, 104, on_time), None);
        assert!(verdict(Process::Constant, 20.0, 1, 105, on_time).is_some());
        assert_eq!(verdict(Process::Constant, 500.0, 1, 1049, on_time), None);
        assert!(verdict(Process::Constant, 500.0, 1, 1050, on_time).is_some());
    }

    #[test]
    fn verdicts_on_poisson_arrivals_are_uniform() {
        for (per_second, gaps) in [(20.0, 300), (300.0, 1800)] {
            let verdicts: Vec<f64> = (0..1000)
                .filter_map(|seed| verdict(Process::Poisson, per_second, seed, gaps, on_time))
                .collect();
            assert_eq!(verdicts.len(), 1000);
            crate::arrivals::tests::assert_distributed(&verdicts, |p| p);
            assert!(verdicts.iter().all(|p| *p > PoissonCheck::SUSPICIOUS), "a false alarm");
        }
    }

    #[test]
    fn other_arrivals_are_found_out() {
        for process in ["constant", "h2:2", "gamma:0.5", "gamma:1.5", "lognormal:1"] {
            let p = verdict(process.parse().unwrap(), 20.0, 1, 5000, on_time);
            assert!(p.is_some_and(|p| p < PoissonCheck::SUSPICIOUS), "{process}: {p:?}");
        }
        for process in ["constant", "h2:2", "gamma:0.5", "gamma:1.5"] {
            let p = verdict(process.parse().unwrap(), 50_000.0, 1, 200_000, on_time);
            assert!(p.is_some_and(|p| p < PoissonCheck::SUSPICIOUS), "{process}: {p:?}");
        }
    }

    #[test]
    fn being_late_by_a_turn_of_an_event_loop_is_no_offence_however_long_the_run() {
        for per_second in [20.0, 1000.0, 20_000.0, 100_000.0] {
            let mut random = crate::seed::random(1, 0, b"");
            let mut turn_ends = 0;
            let p = verdict(Process::Poisson, per_second, 3, 250_000, |arrival| {
                turn_ends = turn_ends.max(arrival.saturating_sub(50_000));
                while turn_ends < arrival {
                    turn_ends += random.random_range(10_000..50_000);
                }
                turn_ends
            });
            assert!(p.is_some_and(|p| p > 0.01), "{per_second}/s: {p:?}");
        }
    }

    #[test]
    fn starting_only_every_ten_milliseconds_is() {
        let late = |arrival: u64| arrival.next_multiple_of(10_000_000);
        for per_second in [20.0, 1000.0, 20_000.0] {
            let p = verdict(Process::Poisson, per_second, 3, 100_000, late);
            assert!(p.is_some_and(|p| p < PoissonCheck::SUSPICIOUS), "{per_second}/s: {p:?}");
        }
    }
}
