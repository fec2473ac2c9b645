//! [`MeanEstimate`]: a mean and how far it may be off.

use serde::Serialize;

use crate::estimate::Estimate;
use crate::moments::Deviations;
use crate::student;

/// A mean with its 95 % confidence interval, by Student's t distribution where nothing else is said. Ratios and quantiles of
/// a simulation are given in this form, too: their figure is under `mean` as well, which is the key that summaries have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanEstimate {
    /// The mean; not a number when nothing was observed.
    pub mean: f64,
    /// From where to where: infinite when there were fewer than two observations.
    pub ci: [f64; 2],
}

const CONFIDENCE: f64 = 0.95;

impl MeanEstimate {
    /// Of independent observations. Those that are not numbers are left out.
    pub fn of(observations: impl IntoIterator<Item = f64>) -> Self {
        let observations: Vec<f64> = observations.into_iter().filter(|value| !value.is_nan()).collect();
        let deviations = Deviations::of(&observations);
        Self::with_error(deviations.mean(), deviations.squared_error().sqrt(), deviations.freedom())
    }

    /// A mean whose standard error has so many degrees of freedom.
    pub fn with_error(mean: f64, error: f64, freedom: f64) -> Self {
        let half = match student::critical(CONFIDENCE, freedom) {
            critical if critical.is_finite() => critical * error,
            _ => f64::INFINITY,
        };
        Self { mean, ci: [mean - half, mean + half] }
    }

    /// A figure of which nothing is known about how far it may be off: its interval is all numbers.
    pub fn unbounded(mean: f64) -> Self {
        Self { mean, ci: [f64::NEG_INFINITY, f64::INFINITY] }
    }

    /// The interval; `None` where there were too few observations for a finite one.
    pub fn finite_ci(&self) -> Option<[f64; 2]> {
        self.ci.iter().all(|end| end.is_finite()).then_some(self.ci)
    }

    /// Whether the interval goes as far to one side as to the other.
    pub fn is_symmetric(&self) -> bool {
        let [down, up] = [self.mean - self.ci[0], self.ci[1] - self.mean];
        !down.is_finite() || !up.is_finite() || (up - down).abs() <= 0.05 * (up + down)
    }

    /// Half the width of the interval.
    pub fn half_width(&self) -> f64 {
        (self.ci[1] - self.ci[0]) / 2.0
    }

    /// Half the width over the mean: what `--precision` limits. 0 when all observations were 0.
    pub fn relative(&self) -> f64 {
        if self.half_width() == 0.0 { 0.0 } else { self.half_width() / self.mean.abs() }
    }

    /// Whether the interval contains `value`.
    pub fn covers(&self, value: f64) -> bool {
        (self.ci[0]..=self.ci[1]).contains(&value)
    }
}

impl From<MeanEstimate> for Estimate {
    fn from(estimate: MeanEstimate) -> Self {
        Self { value: estimate.mean, ci: estimate.finite_ci() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_known_numbers() {
        // t(0.975, 4) = 2.776; standard deviation 1.581, standard error 0.7071.
        let estimate = MeanEstimate::of([1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((estimate.mean - 3.0).abs() < 1e-12);
        assert!((estimate.half_width() - 1.9632).abs() < 1e-3, "{estimate:?}");
        assert!(estimate.covers(2.0) && !estimate.covers(1.0));
        assert_eq!(MeanEstimate::of([0.0; 5]).relative(), 0.0);
    }

    #[test]
    fn of_too_few() {
        assert_eq!(MeanEstimate::of([2.0]).ci, [f64::NEG_INFINITY, f64::INFINITY]);
        assert!(MeanEstimate::of([]).mean.is_nan());
    }
}
