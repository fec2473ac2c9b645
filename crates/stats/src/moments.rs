//! Means and variances: of values that are at hand, of values that pass by, and of sums that a record holds.

/// The arithmetic mean, summed up in the order given; `None` without values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.into_iter().fold((0_u64, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

/// The mean of `count` values, of which those that are not given are 0, as in samples that leave out what is absent;
/// 0 where `count` is 0.
pub fn mean_with_absent(given: impl IntoIterator<Item = f64>, count: usize) -> f64 {
    given.into_iter().sum::<f64>() / count.max(1) as f64
}

/// How values differ from a mean, found in two passes: first the mean, then the squares of what differs from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviations {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Deviations {
    /// From the values' own mean, which is not a number when there are none.
    pub fn of(values: &[f64]) -> Self {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Self::around(mean, values.iter().copied())
    }

    /// From a mean that is known.
    pub fn around(mean: f64, values: impl IntoIterator<Item = f64>) -> Self {
        let squared =
            |(count, squares): (f64, f64), value: f64| (count + 1.0, squares + (value - mean).powi(2));
        let (count, squares) = values.into_iter().fold((0.0, 0.0), squared);
        Self { count, mean, squares }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The sum of the squared deviations.
    pub fn squares(&self) -> f64 {
        self.squares
    }

    /// The variance of what the values are a sample of: squares over one less than there are values. Not a number for
    /// fewer than two.
    pub fn sample_variance(&self) -> f64 {
        self.squares / (self.count - 1.0)
    }

    /// The variance of the values themselves: squares over their number.
    pub fn population_variance(&self) -> f64 {
        self.squares / self.count
    }

    /// The square of the mean's standard error, where values do not depend on each other.
    pub fn squared_error(&self) -> f64 {
        self.sample_variance() / self.count
    }

    /// Degrees of freedom of that: one less than there are values.
    pub fn freedom(&self) -> f64 {
        self.count - 1.0
    }

    /// The coefficient of variation: the sample's standard deviation over the mean.
    pub fn cv(&self) -> f64 {
        self.sample_variance().sqrt() / self.mean
    }

    /// The coefficient of variation of the values themselves; 0 where their mean is not above 0.
    pub fn population_cv(&self) -> f64 {
        if self.mean > 0.0 { self.population_variance().sqrt() / self.mean } else { 0.0 }
    }
}

/// Observations without keeping them: their number, mean, and squared distance from it, updated
/// as Welford does ("Note on a method for calculating corrected sums of squares and products",
/// 1962), which loses no digits where the mean is large beside the spread.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds an observation.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 when there were none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The square of the mean's standard error, where observations do not depend on each other.
    pub fn squared_error(&self) -> f64 {
        let n = self.count as f64;
        self.squares / (n - 1.0) / n
    }
}

/// Number, sum and sum of squares of values that are not known one by one: what a record holds of a phase of requests.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PowerSums {
    /// How many values there are.
    pub count: f64,
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

impl PowerSums {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// Not a number when there are no values.
    pub fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// The standard deviation of the values themselves; rounding cannot bring it below 0.
    pub fn deviation(&self) -> f64 {
        (self.squares / self.count - self.mean() * self.mean()).max(0.0).sqrt()
    }
}

/// The coefficient of variation within groups, each group by its share of the sum of all values; `None` when that sum
/// is not above 0.
pub fn cv_within(groups: impl IntoIterator<Item = PowerSums>) -> Option<f64> {
    let (mut spread, mut total) = (0.0, 0.0);
    for group in groups {
        spread += group.sum * group.deviation() / group.mean();
        total += group.sum;
    }
    (total > 0.0).then(|| spread / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_known_numbers() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(values), Some(5.0));
        assert_eq!(mean([]), None);
        assert_eq!((mean_with_absent([2.0, 4.0], 4), mean_with_absent([], 0)), (1.5, 0.0));
        let deviations = Deviations::of(&values);
        assert_eq!((deviations.mean(), deviations.squares()), (5.0, 32.0));
        assert_eq!((deviations.population_variance(), deviations.population_cv()), (4.0, 0.4));
        assert_eq!(deviations.sample_variance(), 32.0 / 7.0);
        assert_eq!(deviations.squared_error(), 4.0 / 7.0);
        assert!(Deviations::of(&[]).mean().is_nan());
    }

    #[test]
    fn sums_give_what_the_values_give() {
        let mut sums = PowerSums::default();
        [1.0, 3.0].into_iter().for_each(|value| sums.add(value));
        assert_eq!((sums.mean(), sums.deviation()), (2.0, 1.0));
        let constant = PowerSums { count: 2.0, sum: 8.0, squares: 32.0 };
        // Half of it varies by a half, in two thirds of the sum nothing varies.
        assert!((cv_within([sums, constant]).unwrap() - 0.5 / 3.0).abs() < 1e-12);
        assert_eq!(cv_within([]), None);
    }
}
