//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The value that a t-distributed variable exceeds in absolute value with a probability of 1 - `confidence`; infinite
/// where there are no degrees of freedom.
pub(crate) fn critical(confidence: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom)
        .map_or(f64::INFINITY, |student| student.inverse_cdf(0.5 + confidence / 2.0))
}

/// The probability that a t-distributed variable is as far from 0 as `t` or farther; `None` without degrees of freedom.
pub(crate) fn two_sided(t: f64, freedom: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some((2.0 * student.sf(t)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_the_tables() {
        for (freedom, t) in [(1.0, 12.706), (5.0, 2.571), (30.0, 2.042)] {
            assert!((critical(0.95, freedom) - t).abs() < 1e-3);
            assert!((two_sided(critical(0.95, freedom), freedom).unwrap() - 0.05).abs() < 1e-9);
        }
        assert_eq!(critical(0.95, 0.0), f64::INFINITY);
        assert_eq!(two_sided(1.0, 0.0), None);
    }
}
