//! How long a process remembers what it was like.

/// Correlation is summed up over this many autocorrelation times; what is left of it by then is noise.
const WINDOW: f64 = 5.0;

/// The integrated autocorrelation time of series of the same process, in steps: one half where
/// nothing depends on what was before, and the relaxation time where correlation decays
/// exponentially and slowly. Correlations are summed up to the smallest lag that is `WINDOW` times
/// the sum (Sokal, "Monte Carlo methods in statistical mechanics", 1989, section 3). `None` when
/// there is no such lag below half of the series: they are too short to tell.
pub fn autocorrelation_time(series: &[&[f64]]) -> Option<f64> {
    let shortest = series.iter().map(|one| one.len()).min().unwrap_or(0);
    let count: usize = series.iter().map(|one| one.len()).sum();
    let mean = series.iter().copied().flatten().sum::<f64>() / count as f64;
    let covariance = |lag: usize| {
        let products = |one: &&[f64]| -> f64 {
            one.iter().zip(&one[lag..]).map(|(now, then)| (now - mean) * (then - mean)).sum()
        };
        let pairs: usize = series.iter().map(|one| one.len() - lag).sum();
        series.iter().map(products).sum::<f64>() / pairs as f64
    };
    let variance = covariance(0);
    if variance <= 0.0 {
        return Some(0.5);
    }
    let mut time = 0.5;
    for lag in 1..shortest / 2 {
        time += covariance(lag) / variance;
        if lag as f64 >= WINDOW * time {
            return Some(time.max(0.5));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;

    use super::*;

    fn autoregressive(keep: f64, length: usize) -> Vec<Vec<f64>> {
        let mut random = Random::seed_from_u64(9);
        let mut one = || {
            let mut value = 0.0;
            let mut next = || {
                value = keep * value + random.random::<f64>() - 0.5;
                value
            };
            (0..length).map(|_| next()).collect()
        };
        (0..8).map(|_| one()).collect()
    }

    #[track_caller]
    fn check(keep: f64, length: usize) -> Option<f64> {
        let series = autoregressive(keep, length);
        autocorrelation_time(&series.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// One half and the sum of a geometric series: 0.5 + a / (1 - a).
    #[test]
    fn of_processes_with_known_correlation() {
        for (keep, expected) in [(0.0, 0.5), (0.5, 1.5), (0.9, 9.5)] {
            let time = check(keep, 1000).unwrap();
            assert!((time / expected - 1.0).abs() < 0.25, "{keep}: {time}, not {expected}");
        }
    }

    #[test]
    fn too_short_series_say_nothing_and_constant_ones_remember_nothing() {
        assert_eq!(check(0.999, 200), None);
        assert_eq!(autocorrelation_time(&[&[3.0; 50]]), Some(0.5));
    }
}
