//! [`RatioSums`]: a ratio over parts that pass by.

use crate::mean_estimate::MeanEstimate;

/// A ratio of sums over parts that do not depend on each other and may differ in size: what is summed up is
/// kept, not the parts. [`Dependence::ratio`](crate::Dependence::ratio) is for parts that are kept: it sums up in two
/// passes and also knows parts that depend on each other.
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

    /// Adds the parts of `other`.
    pub fn add_all(&mut self, other: &Self) {
        self.parts += other.parts;
        self.dividend += other.dividend;
        self.divisor += other.divisor;
        self.dividend_squared += other.dividend_squared;
        self.divisor_squared += other.divisor_squared;
        self.product += other.product;
    }

    /// The sum of all dividends over that of all divisors. The interval comes from what the parts' own ratios
    /// leave unexplained (the delta method: Law, "Simulation Modeling and Analysis", section 9.5.3 on ratio
    /// estimators). Not a number when there is nothing to divide by; infinite when there is one part.
    pub fn estimate(&self) -> MeanEstimate {
        let ratio = self.dividend / self.divisor;
        if !ratio.is_finite() || self.parts < 2.0 {
            return MeanEstimate::unbounded(ratio);
        }
        let squares =
            self.dividend_squared - 2.0 * ratio * self.product + ratio * ratio * self.divisor_squared;
        let average = self.divisor / self.parts;
        let freedom = self.parts - 1.0;
        // Rounding may leave less than nothing.
        let error = (squares.max(0.0) / freedom / self.parts).sqrt() / average;
        MeanEstimate::with_error(ratio, error, freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval is that of the residuals from the ratio.
    #[test]
    fn of_a_ratio() {
        let parts = [(2.0, 1.0), (3.0, 2.0), (9.0, 4.0), (1.0, 1.0)];
        let mut sums = RatioSums::default();
        parts.iter().for_each(|(dividend, divisor)| sums.add(*dividend, *divisor));
        let ratio = 15.0 / 8.0;
        let residuals = parts.map(|(dividend, divisor)| (dividend - ratio * divisor) / 2.0);
        let expected = MeanEstimate::of(residuals);
        let estimate = sums.estimate();
        assert_eq!(estimate.mean, ratio);
        assert!((estimate.half_width() - expected.half_width()).abs() < 1e-12, "{estimate:?}");
        assert!(RatioSums::default().estimate().mean.is_nan());
    }
}
