//! Whether a sample comes from a distribution.

/// The largest distance between the distribution function of values in rising order and the continuous `cdf`: the
/// statistic of Kolmogorov and Smirnov.
pub fn kolmogorov_smirnov(rising: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let n = rising.len() as f64;
    let steps = rising.iter().enumerate().map(|(below, x)| {
        let expected = cdf(*x);
        (expected - below as f64 / n).abs().max((expected - (below + 1) as f64 / n).abs())
    });
    steps.fold(0.0, f64::max)
}

/// Pearson's chi-square of counts and of what was expected of each.
pub fn chi_square(counts: impl IntoIterator<Item = (u64, f64)>) -> f64 {
    counts.into_iter().map(|(count, expected)| (count as f64 - expected).powi(2) / expected).sum()
}

/// The probability that chi-square with an even number of degrees of freedom, twice `half_freedom`, exceeds `x`: it is
/// twice a sum of exponentials then.
pub fn chi_square_tail(half_freedom: u32, x: f64) -> f64 {
    erlang_tail(half_freedom, x / 2.0)
}

/// The probability that `n` exponentials of mean 1 sum up to more than `x`: that of fewer than
/// `n` events of a Poisson distribution with mean `x` (Abramowitz and Stegun, 26.4.21).
pub fn erlang_tail(n: u32, x: f64) -> f64 {
    let mut term = (-x).exp();
    let mut sum = 0.0;
    for events in 1..=n {
        sum += term;
        term *= x / f64::from(events);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_known_samples() {
        let uniform: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
        assert!((kolmogorov_smirnov(&uniform, |x| x) - 0.0005).abs() < 1e-12);
        assert!((kolmogorov_smirnov(&uniform, |x| (2.0 * x).min(1.0)) - 0.5).abs() < 0.001);
        assert_eq!(chi_square([(8, 10.0), (12, 10.0)]), 0.8);
    }

    #[test]
    fn the_tail_is_that_of_the_tables() {
        // Upper points of chi-square with 20 degrees of freedom.
        for (x, p) in [(19.337, 0.5), (31.410, 0.05), (37.566, 0.01), (45.315, 0.001)] {
            let tail = chi_square_tail(10, x);
            assert!((tail / p - 1.0).abs() < 2e-3, "{x}: {tail}");
        }
        assert_eq!(chi_square_tail(10, 0.0), 1.0);
        assert_eq!(chi_square_tail(10, 1e9), 0.0);
    }
}
