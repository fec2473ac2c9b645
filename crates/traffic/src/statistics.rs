//! What statistical tests need: the Kolmogorov-Smirnov test and sample moments.

/// Fails when the sample is not from the continuous distribution `cdf`: the test of Kolmogorov
/// and Smirnov at the level of 0.1 % (asymptotic critical value 1.95), for samples of a
/// thousand and more from a fixed seed.
#[track_caller]
pub(crate) fn assert_distributed(sample: &[f64], cdf: impl Fn(f64) -> f64) {
    assert!(sample.len() >= 1000, "too small a sample for the asymptotic value: {}", sample.len());
    let scaled = distance(sample, cdf) * (sample.len() as f64).sqrt();
    assert!(scaled < 1.95, "D sqrt(n) is {scaled}, n {}", sample.len());
}

/// The largest distance between the sample's distribution function and `cdf`.
pub(crate) fn distance(sample: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let steps = sorted.iter().enumerate().map(|(below, x)| {
        let expected = cdf(*x);
        (expected - below as f64 / n).abs().max((expected - (below + 1) as f64 / n).abs())
    });
    steps.fold(0.0, f64::max)
}

/// The mean and the coefficient of variation of a sample.
pub(crate) fn mean_and_cv(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, variance.sqrt() / mean)
}

#[test]
fn a_sample_of_another_distribution_is_found_out() {
    let uniform: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
    assert_distributed(&uniform, |x| x);
    assert!((distance(&uniform, |x| x) - 0.0005).abs() < 1e-12);
    assert!((distance(&uniform, |x| (2.0 * x).min(1.0)) - 0.5).abs() < 0.001);
}
