//! How well a sample fits a distribution.

use statrs::distribution::{ChiSquared, ContinuousCDF};
use stats::{goodness, order};

/// The largest distance between the distribution function of `sample` and `cdf`.
pub(crate) fn kolmogorov_smirnov(sample: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    goodness::kolmogorov_smirnov(&order::rising(sample), cdf)
}

/// Fails when independent draws are not from the continuous `cdf`, at the level of 0.1 %.
#[track_caller]
pub(crate) fn assert_drawn_from(sample: Vec<f64>, cdf: impl Fn(f64) -> f64) {
    let root = (sample.len() as f64).sqrt();
    let scaled = kolmogorov_smirnov(sample, cdf) * root;
    assert!(scaled < 1.95, "D sqrt(n) is {scaled}");
}

/// Fails when the counts do not come from draws with these probabilities, at the level of 0.1 %.
#[track_caller]
pub(crate) fn assert_shared_out(counts: &[u64], probabilities: &[f64]) {
    assert_eq!(counts.len(), probabilities.len());
    let sum: f64 = probabilities.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "the probabilities sum up to {sum}");
    let draws = counts.iter().sum::<u64>() as f64;
    let expected = probabilities.iter().map(|probability| draws * probability);
    assert!(expected.clone().all(|expected| expected >= 5.0), "too few draws for {probabilities:?}");
    let chi_square = goodness::chi_square(counts.iter().copied().zip(expected));
    let limit = ChiSquared::new((counts.len() - 1) as f64).unwrap().inverse_cdf(0.999);
    assert!(chi_square < limit, "chi-square is {chi_square}, the limit {limit}");
}

#[test]
fn samples_of_another_distribution_are_found_out() {
    let even: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
    assert_drawn_from(even.clone(), |x| x);
    assert!((kolmogorov_smirnov(even, |x| x * x) - 0.25).abs() < 0.001);
    assert_shared_out(&[498, 502], &[0.5, 0.5]);
    assert!(std::panic::catch_unwind(|| assert_shared_out(&[560, 440], &[0.5, 0.5])).is_err());
}
