//! MSER: how much of the beginning of a simulation is not typical of it.

/// How many of the first `batches`, means of as many observations each, to leave out: as many as make
/// the standard error of the mean of the rest smallest (White, Cobb and Spratt, "A comparison of five
/// steady-state truncation heuristics for simulation", 2000; there batches of five). `None` when
/// that is more than half of them: there are too few to tell.
pub fn mser(batches: &[f64]) -> Option<usize> {
    let mean = batches.iter().sum::<f64>() / batches.len().max(1) as f64;
    // Sums from the end, of what differs from the mean: squares of large numbers lose digits.
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (first, batch) in batches.iter().enumerate().rev() {
        let value = batch - mean;
        sum += value;
        squares += value * value;
        let count = (batches.len() - first) as f64;
        let error = (squares - sum * sum / count) / (count * count);
        // The last few batches happen to be alike now and then, which says nothing.
        if count >= 10.0 && error <= best.0 {
            best = (error, first);
        }
    }
    (best.0.is_finite() && best.1 <= batches.len() / 2).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;

    use super::*;

    #[test]
    fn a_transient_is_cut_and_no_more() {
        let mut random = Random::seed_from_u64(1);
        let observations: Vec<f64> =
            (0..20_000).map(|i| random.random::<f64>() + 5.0 * (-f64::from(i) / 500.0).exp()).collect();
        let cut = mser(&observations).unwrap();
        assert!((1000..4000).contains(&cut), "{cut}");
        let steady = &observations[5000..];
        assert!(mser(steady).unwrap() < 2500);
    }

    #[test]
    fn what_never_settles_is_said_to() {
        let growing: Vec<f64> = (0..10_000).map(f64::from).collect();
        assert_eq!(mser(&growing), None);
        assert_eq!(mser(&[1.0; 9]), None);
    }
}
