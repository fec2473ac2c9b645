//! [`Dependence`]: ratios of sums, and quantiles, over parts that may depend on each other.

use crate::batch_means::overlapping_batch_means;
use crate::log_histogram::LogHistogram;
use crate::mean_estimate::MeanEstimate;
use crate::rare::{interval_of_sum, most_where_none_was_seen};

/// How the parts of a simulation, over which it is summed up, depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependence {
    /// Each independent of the others: replications.
    Independent,
    /// Each on those before it: one run, cut up.
    Consecutive,
}

/// Parts of one run are put together to this many batches, whose means are nearly independent.
const BATCHES: usize = 30;

impl Dependence {
    /// The standard error of the mean of `residuals`, which have the mean 0, and its degrees of freedom.
    fn error(self, residuals: &[f64]) -> (f64, f64) {
        let count = residuals.len() as f64;
        match self {
            Self::Independent => {
                let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
                ((squares / (count - 1.0) / count).sqrt(), count - 1.0)
            }
            Self::Consecutive => overlapping_batch_means(residuals, residuals.len() / BATCHES),
        }
    }

    /// The sum of all dividends over that of all divisors, one pair for each part. The interval comes
    /// from what the parts' own ratios leave unexplained (the delta method: Law, "Simulation Modeling
    /// and Analysis", section 9.5.3 on ratio estimators), so that parts may differ in size. Not a
    /// number when there is nothing to divide by.
    pub fn ratio(self, parts: &[(f64, f64)]) -> MeanEstimate {
        let (dividend, divisor) =
            parts.iter().fold((0.0, 0.0), |(above, below), (more, under)| (above + more, below + under));
        let (ratio, average) = (dividend / divisor, divisor / parts.len() as f64);
        if !ratio.is_finite() || parts.len() < 2 {
            return MeanEstimate::unbounded(ratio);
        }
        let residuals: Vec<f64> =
            parts.iter().map(|(above, below)| (above - ratio * below) / average).collect();
        let (error, freedom) = self.error(&residuals);
        MeanEstimate::with_error(ratio, error, freedom)
    }

    /// The ratio of events, which may come many at once and seldom, to what there is of them at most: where half of
    /// independent parts or more had none the interval is by the gamma distribution instead of Student's.
    pub fn events(self, parts: &[(f64, f64)]) -> MeanEstimate {
        let ratio = self.ratio(parts);
        let without = parts.iter().filter(|(events, _)| *events == 0.0).count();
        if self == Self::Consecutive || 2 * without < parts.len() || !ratio.half_width().is_finite() {
            return ratio;
        }
        let of: f64 = parts.iter().map(|(_, of)| of).sum();
        let interval = interval_of_sum(parts.iter().map(|(events, _)| *events));
        interval.map_or(ratio, |ci| MeanEstimate { ci: ci.map(|sum| (sum / of).min(1.0)), ..ratio })
    }

    /// Of events that were never seen, which come many at once, at most as many as there are in this share of a part: the
    /// upper end is that of a Poisson number of such clusters of which there was none (at the ends of 95 %: 3.7 of them).
    pub fn none_seen(parts: &[(f64, f64)], share: f64) -> MeanEstimate {
        let of: f64 = parts.iter().map(|(_, of)| of).sum();
        let most = most_where_none_was_seen() * (share / parts.len() as f64).max(1.0 / of);
        MeanEstimate { mean: 0.0 / of, ci: [0.0, most.min(1.0)] }
    }

    /// The latency that a share of `portion` of all does not exceed: that of all parts together, for a
    /// mean over the quantiles of short parts is biased. The interval is that of the share which does
    /// not exceed it, read as latencies.
    pub fn quantile(self, parts: &[&LogHistogram], portion: f64) -> MeanEstimate {
        let mut all = LogHistogram::default();
        parts.iter().for_each(|part| all.add(part));
        let quantile = all.quantile(portion);
        let below: Vec<(f64, f64)> =
            parts.iter().map(|part| (part.below(quantile), part.count() as f64)).collect();
        let share = self.ratio(&below);
        if !share.half_width().is_finite() {
            return MeanEstimate { mean: quantile, ..share };
        }
        let end = |portion: f64| all.quantile(portion.clamp(0.0, 1.0));
        let half = share.half_width();
        MeanEstimate {
            mean: quantile,
            ci: [end(portion - half).min(quantile), end(portion + half).max(quantile)],
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;

    use super::*;

    #[test]
    fn events_are_rare_where_half_of_the_parts_have_none() {
        let parts = |with: usize, events: f64| -> Vec<(f64, f64)> {
            (0..16).map(|part| (if part < with { events } else { 0.0 }, 100.0)).collect()
        };
        // Overloaded in most parts: no rare event, and the interval is the same to both sides.
        let often = parts(14, 100.0);
        assert_eq!(Dependence::Independent.events(&often), Dependence::Independent.ratio(&often));
        let seldom = Dependence::Independent.events(&parts(2, 4.0));
        let [low, high] = seldom.ci;
        assert!(0.0 < low && high - seldom.mean > 2.0 * (seldom.mean - low), "{seldom:?}");
        assert!(Dependence::Independent.events(&parts(1, 100.0)).ci[1] <= 1.0);
        let consecutive = Dependence::Consecutive;
        assert_eq!(consecutive.events(&parts(2, 4.0)), consecutive.ratio(&parts(2, 4.0)));
        assert_eq!(Dependence::Independent.events(&parts(0, 0.0)).ci, [0.0; 2]);
        let none = Dependence::none_seen(&parts(0, 0.0), 0.4);
        assert!(none.mean == 0.0 && none.ci[0] == 0.0 && (none.ci[1] - 0.0922).abs() < 1e-4, "{none:?}");
        assert_eq!(Dependence::none_seen(&parts(0, 0.0), 10.0).ci, [0.0, 1.0]);
    }

    /// Exponentially distributed latencies in parts of very different sizes.
    #[test]
    fn quantiles_and_means_of_short_parts_are_covered() {
        let mut random = Random::seed_from_u64(3);
        let truth = [1.0, 10.0_f64.ln()];
        let mut missed = [0; 2];
        for _ in 0..400 {
            let parts: Vec<LogHistogram> = (0..20)
                .map(|part| {
                    let mut latencies = LogHistogram::default();
                    (0..5 + 10 * part).for_each(|_| latencies.record(-(1.0 - random.random::<f64>()).ln()));
                    latencies
                })
                .collect();
            let parts: Vec<&LogHistogram> = parts.iter().collect();
            let sums: Vec<(f64, f64)> = parts.iter().map(|part| (part.sum(), part.count() as f64)).collect();
            let seen = [Dependence::Independent.ratio(&sums), Dependence::Independent.quantile(&parts, 0.9)];
            for ((seen, truth), missed) in seen.iter().zip(truth).zip(&mut missed) {
                *missed += u32::from(!seen.covers(truth));
            }
        }
        assert!(missed.iter().all(|missed| (8..=36).contains(missed)), "{missed:?} of 400");
    }

    #[test]
    fn of_nothing_and_of_one_part() {
        assert!(Dependence::Independent.ratio(&[(0.0, 0.0); 3]).mean.is_nan());
        assert_eq!(Dependence::Consecutive.ratio(&[(2.0, 4.0)]).mean, 0.5);
        assert!(Dependence::Consecutive.ratio(&[(2.0, 4.0)]).half_width().is_infinite());
        assert!(Dependence::Independent.quantile(&[&LogHistogram::default(); 2], 0.5).mean.is_nan());
    }
}
