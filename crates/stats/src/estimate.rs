//! [`Estimate`]: a figure with its 95 % interval.

use serde::Serialize;

use crate::moments::Moments;
use crate::order;

/// The standard normal distribution's 97.5 % point.
const Z: f64 = 1.959_963_984_540_054;

/// Below this many observations the normal approximation of a mean's interval is not used.
const MIN_FOR_A_MEAN: u64 = 30;

/// A figure and where the true value lies with a confidence of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower and upper end; `None` where there are too few observations to tell.
    pub ci: Option<[f64; 2]>,
}

impl Estimate {
    /// The share `successes` of `trials`, 0 to 1, with Wilson's score interval, which stays
    /// within 0 to 1 and holds near its ends (Wilson, "Probable inference, the law of
    /// succession, and statistical inference", 1927). `None` without trials.
    pub fn share(successes: u64, trials: u64) -> Option<Self> {
        if trials == 0 {
            return None;
        }
        let n = trials as f64;
        let p = successes as f64 / n;
        let scale = 1.0 + Z * Z / n;
        let centre = (p + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let low = if successes == 0 { 0.0 } else { (centre - half).max(0.0) };
        let high = if successes == trials { 1.0 } else { (centre + half).min(1.0) };
        Some(Self { value: p, ci: Some([low, high]) })
    }

    /// `count` events in `seconds`, per second, with the score interval of a Poisson count.
    /// `None` when no time passed.
    pub fn rate(count: u64, seconds: f64) -> Option<Self> {
        if seconds <= 0.0 {
            return None;
        }
        let n = count as f64;
        let half = Z * (n + Z * Z / 4.0).sqrt();
        let centre = n + Z * Z / 2.0;
        Some(Self {
            value: n / seconds,
            ci: Some([(centre - half).max(0.0) / seconds, (centre + half) / seconds]),
        })
    }

    /// The mean, with the normal interval where there are enough observations for one.
    /// `None` without observations.
    pub fn mean(values: &[f64]) -> Option<Self> {
        let mut moments = Moments::default();
        for &value in values {
            moments.add(value);
        }
        Self::of_moments(&moments)
    }

    /// The mean of observations that passed by, with the normal interval where there are enough of them for one.
    /// `None` without observations.
    pub fn of_moments(moments: &Moments) -> Option<Self> {
        let mean = moments.mean();
        let interval = || {
            let half = Z * moments.squared_error().sqrt();
            [mean - half, mean + half]
        };
        let ci = (moments.count() >= MIN_FOR_A_MEAN).then(interval);
        (moments.count() > 0).then_some(Self { value: mean, ci })
    }

    /// The quantile `q` of observations in rising order. The interval is free of any assumption
    /// on their distribution: its ends are themselves observations, with ranks that enclose the
    /// quantile's in 95 % of samples (Conover, "Practical Nonparametric Statistics", 3.2).
    /// `None` without observations.
    pub fn quantile(rising: &[f64], q: f64) -> Option<Self> {
        let value = order::interpolated(rising, q)?;
        let n = rising.len() as f64;
        let half = Z * (n * q * (1.0 - q)).sqrt();
        let (lower, upper) = ((n * q - half).floor(), (n * q + half).ceil() + 1.0);
        let ci = (lower >= 1.0 && upper <= n)
            .then(|| Some([*rising.get(lower as usize - 1)?, *rising.get(upper as usize - 1)?]))
            .flatten();
        Some(Self { value, ci })
    }

    /// Whether the two intervals have a value in common; figures without one are as good as equal.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self.ci, other.ci) {
            (Some(a), Some(b)) => a[0] <= b[1] && b[0] <= a[1],
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(estimate: Option<Estimate>, value: f64, low: f64, high: f64) {
        let estimate = estimate.unwrap();
        let [l, h] = estimate.ci.unwrap();
        for (got, wanted) in [(estimate.value, value), (l, low), (h, high)] {
            assert!((got - wanted).abs() < 5e-4, "{estimate:?}, not {value} ({low} to {high})");
        }
    }

    #[test]
    fn shares_have_wilsons_interval() {
        // Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I.
        check(Estimate::share(81, 263), 0.3080, 0.2553, 0.3662);
        check(Estimate::share(15, 148), 0.1014, 0.0624, 0.1605);
        check(Estimate::share(0, 20), 0.0, 0.0, 0.1611);
        check(Estimate::share(1, 29), 0.0345, 0.0061, 0.1718);
        check(Estimate::share(29, 29), 1.0, 0.8830, 1.0);
        assert_eq!(Estimate::share(0, 0), None);
    }

    #[test]
    fn rates_have_a_poisson_interval() {
        check(Estimate::rate(100, 10.0), 10.0, 8.2227, 12.1614);
        check(Estimate::rate(0, 2.0), 0.0, 0.0, 1.9207);
        assert_eq!(Estimate::rate(5, 0.0), None);
    }

    #[test]
    fn a_quantiles_interval_ends_at_observations() {
        let rising: Vec<f64> = (1..=100).map(f64::from).collect();
        // Ranks 50 -+ 1.96 * 5, as in tables of the sign test: 40 and 61.
        check(Estimate::quantile(&rising, 0.5), 50.5, 40.0, 61.0);
        assert_eq!(Estimate::quantile(&[3.0], 0.5), Some(Estimate { value: 3.0, ci: None }));
        assert_eq!(Estimate::quantile(&[], 0.5), None);
    }

    #[test]
    fn a_mean_of_few_has_no_interval() {
        assert_eq!(Estimate::mean(&[1.0, 3.0]), Some(Estimate { value: 2.0, ci: None }));
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        check(Estimate::mean(&values), 0.5, 0.4015, 0.5985);
    }

    #[test]
    fn intervals_that_touch_overlap() {
        let estimate = |low, high| Estimate { value: low, ci: Some([low, high]) };
        assert!(estimate(0.0, 1.0).overlaps(&estimate(1.0, 2.0)));
        assert!(!estimate(0.0, 0.9).overlaps(&estimate(1.0, 2.0)));
    }
}
