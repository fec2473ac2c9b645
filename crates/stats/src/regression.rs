//! Least squares: a straight line through counts, and coefficients of several terms.

use nalgebra::{DMatrix, DVector};

use crate::student;

/// The straight line through values at even distances that has the least squares of what they differ by from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// The mean of the values, which is what the line has in the middle.
    pub mean: f64,
    /// By how much it rises from one value to the next.
    pub slope: f64,
    /// The standard error of the slope, from what the values differ by from the line.
    pub error: f64,
    count: f64,
}

impl Line {
    /// Through values that do not depend on each other but for the line; `None` for fewer than three.
    pub fn through(values: &[f64]) -> Option<Self> {
        if values.len() < 3 {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let centred = |index: usize| index as f64 - (count - 1.0) / 2.0;
        let squares: f64 = (0..values.len()).map(|index| centred(index).powi(2)).sum();
        let product = |(index, value): (usize, &f64)| centred(index) * value;
        let slope = values.iter().enumerate().map(product).sum::<f64>() / squares;
        let rest: f64 = values
            .iter()
            .enumerate()
            .map(|(index, value)| (value - mean - slope * centred(index)).powi(2))
            .sum();
        Some(Self { mean, slope, error: (rest / (count - 2.0) / squares).sqrt(), count })
    }

    /// What the line has at the first value and at the last.
    pub fn ends(&self) -> [f64; 2] {
        let half = self.slope * (self.count - 1.0) / 2.0;
        [self.mean - half, self.mean + half]
    }

    /// Whether the slope is not 0, with a probability of `chance` that a line without one is said to have one.
    pub fn is_sloped(&self, chance: f64) -> bool {
        self.slope.abs() > student::critical(1.0 - chance, self.count - 2.0) * self.error
    }
}

/// The coefficients with which a sum of `terms` comes closest to 1 in each of `rows`: least squares by singular values,
/// so that terms which the rows do not tell apart share what they explain. `terms` are as many as each row's values.
pub fn coefficients_of_one(rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let terms = rows.first()?.len();
    let matrix = DMatrix::from_fn(rows.len(), terms, |row, term| rows[row].get(term).copied().unwrap_or(0.0));
    let ones = DVector::from_element(rows.len(), 1.0);
    let found = matrix.svd(true, true).solve(&ones, 1e-12).ok()?;
    Some(found.iter().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_a_level_is_not_taken_for_one() {
        let line = Line::through(&[1.0, 3.0, 5.0, 7.0]).unwrap();
        assert_eq!((line.mean, line.slope, line.error), (4.0, 2.0, 0.0));
        assert_eq!(line.ends(), [1.0, 7.0]);
        assert!(line.is_sloped(0.01));
        assert!(!Line::through(&[5.0, 7.0, 4.0, 6.0, 5.0]).unwrap().is_sloped(0.01));
        assert_eq!(Line::through(&[1.0, 2.0]), None);
    }

    #[test]
    fn coefficients_solve_what_can_be_solved() {
        let found = coefficients_of_one(&[vec![1.0, 0.0], vec![0.0, 2.0], vec![1.0, 0.0]]).unwrap();
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 0.5).abs() < 1e-12, "{found:?}");
        assert_eq!(coefficients_of_one(&[]), None);
    }
}
