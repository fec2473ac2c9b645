//! Whether what was measured differs by more than chance explains.

use statrs::distribution::{DiscreteCDF, Poisson};

use crate::moments::Deviations;
use crate::student;

/// The chance below which a difference is called one.
pub const LEVEL: f64 = 0.05;

/// How likely the means of two samples differ by so much, or more, where there is no difference; `None` for fewer than
/// two values each. Their spreads may differ (Welch, "The generalization of 'Student's' problem when several different
/// population variances are involved", 1947).
pub fn welch(one: &[f64], other: &[f64]) -> Option<f64> {
    let [(mean, error, freedom), (mean_2, error_2, freedom_2)] = [squared_error(one)?, squared_error(other)?];
    let together = error + error_2;
    if together <= 0.0 {
        // Values without any spread.
        return Some(if mean == mean_2 { 1.0 } else { 0.0 });
    }
    let t = (mean - mean_2).abs() / together.sqrt();
    let degrees = together * together / (error * error / freedom + error_2 * error_2 / freedom_2);
    student::two_sided(t, degrees)
}

/// How likely a value is so far from the mean of others, or farther, where it is of their kind; `None` for fewer than two of
/// these (the prediction interval of Student's t, Hahn, "Factors for calculating two-sided prediction intervals", 1969).
pub fn belongs(others: &[f64], value: f64) -> Option<f64> {
    let (mean, error, freedom) = squared_error(others)?;
    // That of a single value is as many times that of the mean.
    let squared = error * (others.len() as f64 + 1.0);
    if squared <= 0.0 {
        return Some(if value == mean { 1.0 } else { 0.0 });
    }
    student::two_sided((value - mean).abs() / squared.sqrt(), freedom)
}

/// How likely the mean of differences within pairs is so far from 0, or farther, where there is no difference; `None`
/// for fewer than two. What was measured close together was measured under equal conditions (Student, "The probable error of a mean", 1908).
pub fn paired(differences: &[f64]) -> Option<f64> {
    let (mean, error, freedom) = squared_error(differences)?;
    if error <= 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    student::two_sided(mean.abs() / error.sqrt(), freedom)
}

/// The mean, the square of its standard error, and degrees of freedom.
fn squared_error(values: &[f64]) -> Option<(f64, f64, f64)> {
    let deviations = Deviations::of(values);
    (values.len() >= 2).then(|| (deviations.mean(), deviations.squared_error(), deviations.freedom()))
}

/// How likely a Poisson count of which `expected` is the mean is `count` or more; `None` where `expected` is not a mean.
pub fn poisson_tail(count: u64, expected: f64) -> Option<f64> {
    let chance = Poisson::new(expected).ok()?;
    Some(count.checked_sub(1).map_or(1.0, |fewer| chance.sf(fewer)))
}

/// Each chance as one of so many that are looked at together: the smallest counts as often as there are, the next once
/// less, and none is smaller than the one before (Holm, "A simple sequentially rejective multiple test procedure", 1979).
pub fn holm(chances: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        chances.iter().enumerate().filter_map(|(at, chance)| Some((at, (*chance)?))).collect();
    order.sort_by(|one, other| one.1.total_cmp(&other.1));
    let count = order.len();
    let mut adjusted = vec![None; chances.len()];
    let mut least: f64 = 0.0;
    for (rank, (at, chance)) in order.into_iter().enumerate() {
        least = least.max(chance * (count - rank) as f64).min(1.0);
        adjusted[at] = Some(least);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_chances_are_judged_together() {
        assert_eq!(
            holm(vec![Some(0.04), None, Some(0.01), Some(0.5)]),
            [Some(0.08), None, Some(0.03), Some(0.5)]
        );
        assert_eq!(holm(vec![Some(0.02), Some(0.021)]), [Some(0.04), Some(0.04)]);
        assert_eq!(holm(vec![Some(0.9), Some(0.8)]), [Some(1.0), Some(1.0)]);
    }

    /// t = 1.85164 with 3 degrees of freedom.
    #[test]
    fn pairs_are_judged_by_their_differences() {
        let p = paired(&[0.1, 0.2, -0.05, 0.15]).unwrap();
        assert!((p - 0.161_162).abs() < 1e-6, "{p}");
        assert_eq!(paired(&[0.1, 0.1]), Some(0.0));
        assert_eq!(paired(&[0.0, 0.0]), Some(1.0));
        assert_eq!(paired(&[0.1]), None);
    }

    /// SciPy 1's two-sided test without equal variances gives t = -1.28963, 7.63656 degrees of freedom and p = 0.234862.
    #[test]
    fn it_is_welchs() {
        let one = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9];
        let other = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5];
        let p = welch(&one, &other).unwrap();
        assert!((p - 0.234_862).abs() < 1e-6, "{p}");
        assert!((welch(&other, &one).unwrap() - p).abs() < 1e-12);
        assert!(welch(&[1.0, 1.1, 0.9], &[2.0, 2.1, 1.9]).unwrap() < 0.001);
        assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0]), Some(1.0));
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0]), Some(0.0));
        assert_eq!(welch(&[1.0], &[2.0, 2.0]), None);
    }

    /// Of 9, 10 and 11, a value 4 away: t = 4 / sqrt(1 + 1 / 3) with 2 degrees of freedom.
    #[test]
    fn a_value_is_judged_by_what_single_values_do() {
        let p = belongs(&[9.0, 10.0, 11.0], 14.0).unwrap();
        assert!((p - 0.074_180).abs() < 1e-6, "{p}");
        assert_eq!(belongs(&[9.0], 14.0), None);
        assert_eq!((belongs(&[1.0, 1.0], 1.0), belongs(&[1.0, 1.0], 2.0)), (Some(1.0), Some(0.0)));
    }

    /// 1 - exp(-2) (1 + 2 + 2).
    #[test]
    fn counts_are_judged_by_their_upper_tail() {
        assert!((poisson_tail(3, 2.0).unwrap() - 0.323_324).abs() < 1e-6);
        assert_eq!(poisson_tail(0, 2.0), Some(1.0));
        assert_eq!(poisson_tail(1, -1.0), None);
    }
}
