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

/// Coefficients of terms, and how they may be off together.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// One for each term.
    pub coefficients: Vec<f64>,
    covariance: DMatrix<f64>,
}

impl Terms {
    /// Those of terms that depend on what a value has by chance, by instruments, which do not but tell of the terms: two-stage
    /// least squares (Wooldridge, "Econometric Analysis of Cross Section and Panel Data", 2010, chapter 5), with weights.
    /// With the terms as their own instruments it is least squares. Shape: a row of terms, one of instruments, which are as
    /// many or more, and a weight, for each value. Errors are from what is left, whether it is alike everywhere or not
    /// (White, "A heteroskedasticity-consistent covariance matrix estimator", 1980). `None` where the instruments do not tell
    /// the terms apart.
    pub fn of(rows: &[Vec<f64>], instruments: &[Vec<f64>], values: &[f64], weights: &[f64]) -> Option<Self> {
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let matrix = |rows: &[Vec<f64>]| {
            let wide = rows.first().map_or(0, Vec::len);
            DMatrix::from_fn(rows.len(), wide, |row, term| rows[row][term] * roots[row])
        };
        let (terms, instruments) = (matrix(rows), matrix(instruments));
        let values =
            DVector::from_iterator(values.len(), values.iter().zip(&roots).map(|(value, root)| value * root));
        // Instruments that say what others do, or nothing, are left out.
        let squares = instruments.tr_mul(&instruments);
        let largest = squares.diagonal().max();
        let told = squares.pseudo_inverse(1e-12 * largest).ok()? * instruments.tr_mul(&terms);
        let told = instruments * told;
        let inverse = told.tr_mul(&told).try_inverse()?;
        let coefficients = &inverse * told.tr_mul(&values);
        let left = values - terms * &coefficients;
        let scaled = DMatrix::from_fn(told.nrows(), told.ncols(), |row, term| told[(row, term)] * left[row]);
        let covariance = &inverse * scaled.tr_mul(&scaled) * &inverse;
        Some(Self { coefficients: coefficients.iter().copied().collect(), covariance })
    }

    /// The standard error of a sum of coefficients, each as many times as `times` says.
    pub fn error(&self, times: &[f64]) -> f64 {
        let times = DVector::from_column_slice(times);
        (&self.covariance * &times).dot(&times).max(0.0).sqrt()
    }
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
    fn terms_are_found_with_their_errors() {
        let rows: Vec<Vec<f64>> = (0..100).map(|row| vec![1.0, f64::from(row % 10)]).collect();
        let noise = |row: usize| if row.is_multiple_of(2) { 0.1 } else { -0.1 };
        let values: Vec<f64> =
            rows.iter().enumerate().map(|(at, row)| 2.0 + 3.0 * row[1] + noise(at)).collect();
        let found = Terms::of(&rows, &rows, &values, &[1.0; 100]).unwrap();
        assert!((found.coefficients[1] - 3.0).abs() < 0.01, "{found:?}");
        // 0.1 over the root of a hundred, and of the variance of the term.
        assert!((found.error(&[0.0, 1.0]) / (0.01 / 8.25_f64.sqrt()) - 1.0).abs() < 0.1, "{found:?}");
        let alike = vec![vec![1.0, 2.0]; 5];
        assert_eq!(Terms::of(&alike, &alike, &[1.0; 5], &[1.0; 5]), None);
    }

    /// Terms that are larger where chance has made the value larger, and an instrument that is not.
    #[test]
    fn instruments_tell_chance_from_terms() {
        let chance = |at: usize| [0.5, -0.5, 0.25, -0.25][at % 4];
        let instruments: Vec<Vec<f64>> = (0..400).map(|at| vec![1.0, f64::from(at / 4 % 5)]).collect();
        let rows: Vec<Vec<f64>> =
            instruments.iter().enumerate().map(|(at, row)| vec![1.0, row[1] + chance(at)]).collect();
        let values: Vec<f64> =
            rows.iter().enumerate().map(|(at, row)| 2.0 * row[1] + 3.0 * chance(at)).collect();
        let by = |instruments: &[Vec<f64>]| {
            Terms::of(&rows, instruments, &values, &[1.0; 400]).unwrap().coefficients[1]
        };
        let with_nothing: Vec<Vec<f64>> =
            instruments.iter().map(|row| [row.as_slice(), &[0.0, row[1]]].concat()).collect();
        assert!((by(&with_nothing) - 2.0).abs() < 1e-9, "{}", by(&with_nothing));
        assert!(
            by(&rows) > 2.1 && (by(&instruments) - 2.0).abs() < 1e-9,
            "{} {}",
            by(&rows),
            by(&instruments)
        );
    }

    #[test]
    fn coefficients_solve_what_can_be_solved() {
        let found = coefficients_of_one(&[vec![1.0, 0.0], vec![0.0, 2.0], vec![1.0, 0.0]]).unwrap();
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 0.5).abs() < 1e-12, "{found:?}");
        assert_eq!(coefficients_of_one(&[]), None);
    }
}
