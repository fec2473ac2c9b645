//! Welch's test: whether the means of two samples differ, whose spreads may (Welch, "The generalization of 'Student's'
//! problem when several different population variances are involved", 1947).

use statrs::distribution::{ContinuousCDF, StudentsT};

/// How likely means differ by so much, or more, where there is no difference; nothing of fewer than two values each.
pub(super) fn chance(one: &[f64], other: &[f64]) -> Option<f64> {
    let [(mean, error, freedom), (mean_2, error_2, freedom_2)] = [squared_error(one)?, squared_error(other)?];
    let together = error + error_2;
    if together <= 0.0 {
        // Values without any spread.
        return Some(if mean == mean_2 { 1.0 } else { 0.0 });
    }
    let t = (mean - mean_2).abs() / together.sqrt();
    let degrees = together * together / (error * error / freedom + error_2 * error_2 / freedom_2);
    let student = StudentsT::new(0.0, 1.0, degrees).ok()?;
    Some((2.0 * student.sf(t)).clamp(0.0, 1.0))
}

/// The mean, the square of its standard error, and degrees of freedom.
fn squared_error(values: &[f64]) -> Option<(f64, f64, f64)> {
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, squares / (count - 1.0) / count, count - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SciPy 1's two-sided test without equal variances gives t = -1.28963, 7.63656 degrees of freedom and p = 0.234862.
    #[test]
    fn it_is_welchs() {
        let one = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9];
        let other = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5];
        let p = chance(&one, &other).unwrap();
        assert!((p - 0.234_862).abs() < 1e-6, "{p}");
        assert!((chance(&other, &one).unwrap() - p).abs() < 1e-12);
        assert!(chance(&[1.0, 1.1, 0.9], &[2.0, 2.1, 1.9]).unwrap() < 0.001);
        assert_eq!(chance(&[1.0, 1.0], &[1.0, 1.0]), Some(1.0));
        assert_eq!(chance(&[1.0, 1.0], &[2.0, 2.0]), Some(0.0));
        assert_eq!(chance(&[1.0], &[2.0, 2.0]), None);
    }
}
