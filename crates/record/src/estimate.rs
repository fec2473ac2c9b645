//! [`Estimate`]: a mean and how far it may be off.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean of independent observations with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean; not a number when nothing was observed.
    pub mean: f64,
    /// From where to where: infinite when there were fewer than two observations.
    pub ci: [f64; 2],
}

const CONFIDENCE: f64 = 0.95;

impl Estimate {
    /// Of independent observations, by Student's t distribution. Those that are not numbers are
    /// left out.
    pub fn of(observations: impl IntoIterator<Item = f64>) -> Self {
        let observations: Vec<f64> = observations.into_iter().filter(|value| !value.is_nan()).collect();
        let count = observations.len() as f64;
        let mean = observations.iter().sum::<f64>() / count;
        let squares: f64 = observations.iter().map(|value| (value - mean).powi(2)).sum();
        Self::with_error(mean, (squares / (count - 1.0) / count).sqrt(), count - 1.0)
    }

    /// A mean whose standard error has so many degrees of freedom.
    pub fn with_error(mean: f64, error: f64, freedom: f64) -> Self {
        let half = StudentsT::new(0.0, 1.0, freedom)
            .map_or(f64::INFINITY, |student| student.inverse_cdf(0.5 + CONFIDENCE / 2.0) * error);
        Self { mean, ci: [mean - half, mean + half] }
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

/// A ratio of sums over parts that do not depend on each other and may differ in size: what is summed up is
/// kept, not the parts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RatioSums {
    parts: f64,
    dividend: f64,
    divisor: f64,
    /// Sums of squares and of products.
    dividend_squared: f64,
    divisor_squared: f64,
    product: f64,
}

impl RatioSums {
    /// Adds a part.
    pub fn add(&mut self, dividend: f64, divisor: f64) {
        self.parts += 1.0;
        self.dividend += dividend;
        self.divisor += divisor;
        self.dividend_squared += dividend * dividend;
        self.divisor_squared += divisor * divisor;
        self.product += dividend * divisor;
    }

    /// The sum of all dividends over that of all divisors. The interval comes from what the parts' own ratios
    /// leave unexplained (the delta method: Law, "Simulation Modeling and Analysis", section 9.5.3 on ratio
    /// estimators). Not a number when there is nothing to divide by; infinite when there is one part.
    pub fn estimate(&self) -> Estimate {
        let ratio = self.dividend / self.divisor;
        if !ratio.is_finite() || self.parts < 2.0 {
            return Estimate { mean: ratio, ci: [f64::NEG_INFINITY, f64::INFINITY] };
        }
        let squares =
            self.dividend_squared - 2.0 * ratio * self.product + ratio * ratio * self.divisor_squared;
        let average = self.divisor / self.parts;
        let freedom = self.parts - 1.0;
        // Rounding may leave less than nothing.
        let error = (squares.max(0.0) / freedom / self.parts).sqrt() / average;
        Estimate::with_error(ratio, error, freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_known_numbers() {
        // t(0.975, 4) = 2.776; standard deviation 1.581, standard error 0.7071.
        let estimate = Estimate::of([1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((estimate.mean - 3.0).abs() < 1e-12);
        assert!((estimate.half_width() - 1.9632).abs() < 1e-3, "{estimate:?}");
        assert!(estimate.covers(2.0) && !estimate.covers(1.0));
        assert_eq!(Estimate::of([0.0; 5]).relative(), 0.0);
    }

    /// The same parts as residuals from their ratio.
    #[test]
    fn of_a_ratio() {
        let parts = [(2.0, 1.0), (3.0, 2.0), (9.0, 4.0), (1.0, 1.0)];
        let mut sums = RatioSums::default();
        parts.iter().for_each(|(dividend, divisor)| sums.add(*dividend, *divisor));
        let ratio = 15.0 / 8.0;
        let residuals = parts.map(|(dividend, divisor)| (dividend - ratio * divisor) / 2.0);
        let expected = Estimate::of(residuals);
        let estimate = sums.estimate();
        assert_eq!(estimate.mean, ratio);
        assert!((estimate.half_width() - expected.half_width()).abs() < 1e-12, "{estimate:?}");
        assert!(RatioSums::default().estimate().mean.is_nan());
    }

    #[test]
    fn of_too_few() {
        assert_eq!(Estimate::of([2.0]).ci, [f64::NEG_INFINITY, f64::INFINITY]);
        assert!(Estimate::of([]).mean.is_nan());
    }
}
