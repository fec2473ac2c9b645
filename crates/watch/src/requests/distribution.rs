//! [`Distribution`]: how long something took, and how sure that is.

use std::ops::Deref;

use record::Quantiles;
use serde::Serialize;
use stats::{Histogram, RatioSums};

/// A distribution in a few numbers, and where these are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distribution {
    /// Of those that were followed.
    #[serde(flatten)]
    pub followed: Quantiles,
    /// Of all, with 95 % confidence: the same twice where all were followed.
    pub ci: Intervals,
}

/// From where to where the figures of a distribution are, in seconds; null for what is not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "as in `Quantiles`")]
pub struct Intervals {
    pub mean: [f64; 2],
    pub p50: [f64; 2],
    pub p90: [f64; 2],
    pub p95: [f64; 2],
    pub p99: [f64; 2],
    pub p999: [f64; 2],
}

/// 97.5 % of a standard normal distribution are below it.
const Z: f64 = 1.959_964;

impl Distribution {
    /// Of all requests.
    pub(super) fn of_all(durations: &Histogram) -> Self {
        let followed = Quantiles::of(durations);
        let twice = |value: f64| [value; 2];
        let ci = Intervals {
            mean: twice(followed.mean),
            p50: twice(followed.p50),
            p90: twice(followed.p90),
            p95: twice(followed.p95),
            p99: twice(followed.p99),
            p999: twice(followed.p999),
        };
        Self { followed, ci }
    }

    /// Of those that began in windows; `by_window` has the sum of durations, and how many there were, of each. Requests of
    /// one window are like each other, so that they say less than as many at random (the design effect: Kish, "Survey
    /// Sampling", section 8.2); quantiles are at the ranks where as many at random as say the same leave them.
    pub(super) fn of_windows(durations: &Histogram, by_window: &RatioSums) -> Self {
        let (count, mean) = (durations.count() as f64, by_window.estimate());
        let alone = durations.standard_deviation().as_secs_f64() / count.sqrt();
        let error = mean.half_width() / Z;
        let effect = if alone > 0.0 { (error / alone).powi(2).max(1.0) } else { 1.0 };
        let worth = if mean.half_width().is_finite() { count / effect } else { 0.0 };
        let at = |share: f64| {
            let reach = Z * (share * (1.0 - share) / worth).sqrt();
            let end = |rank: f64, unbounded: f64| {
                // Beyond the last of them there may be anything.
                let is_within = rank > 0.0 && rank < 1.0 - 1.0 / (worth + 1.0);
                if is_within { durations.quantile(rank).as_secs_f64() } else { unbounded }
            };
            [end(share - reach, 0.0), end(share + reach, f64::INFINITY)]
        };
        let ci = Intervals {
            mean: mean.ci.map(|end| end.max(0.0)),
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
        };
        Self { followed: Quantiles::of(durations), ci }
    }
}

impl Deref for Distribution {
    type Target = Quantiles;

    fn deref(&self) -> &Quantiles {
        &self.followed
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::SmallRng;
    use rand::{Rng as _, SeedableRng as _};
    use units::Span;

    use super::*;

    /// Windows whose requests are alike: each window has a level of its own. How often the median of all is within.
    #[test]
    fn the_median_of_all_is_within_as_often_as_is_said() {
        let mut random = SmallRng::seed_from_u64(7);
        let (runs, mut within) = (400, 0);
        for _ in 0..runs {
            let (mut durations, mut by_window) = (Histogram::coarse(), RatioSums::default());
            for _ in 0..60 {
                let level = random.random_range(0.5..1.5);
                let mut sum = 0.0;
                for _ in 0..30 {
                    let duration = Span::from_secs_f64(0.01 * level * random.random_range(0.8..1.2));
                    durations.record(duration);
                    sum += duration.as_secs_f64();
                }
                by_window.add(sum, 30.0);
            }
            let [low, high] = Distribution::of_windows(&durations, &by_window).ci.p50;
            within += u32::from((low..=high).contains(&0.01));
        }
        let share = f64::from(within) / f64::from(runs);
        assert!((0.9..=1.0).contains(&share), "{share}");
    }

    #[test]
    fn of_few_the_tail_is_not_bounded() {
        let (mut durations, mut by_window) = (Histogram::coarse(), RatioSums::default());
        for _ in 0..10 {
            (1..=5).for_each(|millis| durations.record(Span::from_millis(millis)));
            by_window.add(0.015, 5.0);
        }
        let some = Distribution::of_windows(&durations, &by_window);
        assert!(some.ci.p99[1].is_infinite() && some.ci.p50[1].is_finite(), "{some:?}");
        let all = Distribution::of_all(&durations);
        assert_eq!(all.ci.p99, [all.p99; 2]);
        let none = Distribution::of_windows(&Histogram::coarse(), &RatioSums::default());
        assert!(none.ci.p50[1].is_infinite() && none.count == 0, "{none:?}");
    }
}
