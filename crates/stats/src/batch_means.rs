//! Overlapping batch means: how far the mean of one long run may be off.

/// The standard error of the mean of correlated `observations` and its degrees of freedom, from the
/// standard deviation of the means of all stretches of `length` of them (Meketon and Schmeiser,
/// "Overlapping batch means: something for nothing?", 1984). Infinite unless there are two lengths.
pub fn overlapping_batch_means(observations: &[f64], length: usize) -> (f64, f64) {
    let (count, size) = (observations.len() as f64, length as f64);
    if length == 0 || observations.len() < 2 * length {
        return (f64::INFINITY, 1.0);
    }
    let mean = observations.iter().sum::<f64>() / count;
    let mut sum: f64 = observations[..length].iter().map(|value| value - mean).sum();
    let mut squares = (sum / size).powi(2);
    for (leaving, entering) in observations.iter().zip(&observations[length..]) {
        sum += entering - leaving;
        squares += (sum / size).powi(2);
    }
    let variance = count * size / ((count - size + 1.0) * (count - size)) * squares;
    ((variance / count).sqrt(), 1.5 * (count / size - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;

    use super::*;
    use crate::MeanEstimate;

    /// An autoregressive process of which the variance of the mean is known: (1 / (1 - a))^2 / n.
    #[test]
    fn intervals_of_correlated_observations_cover_the_mean() {
        let mut random = Random::seed_from_u64(5);
        let covered = (0..200).filter(|_| {
            let mut value = 0.0;
            let observations: Vec<f64> = (0..20_000)
                .map(|_| {
                    value = 0.9 * value + random.random::<f64>() - 0.5;
                    value
                })
                .collect();
            let (error, freedom) = overlapping_batch_means(&observations, 400);
            let mean = observations.iter().sum::<f64>() / observations.len() as f64;
            MeanEstimate::with_error(mean, error, freedom).covers(0.0)
        });
        let covered = covered.count();
        assert!((180..=199).contains(&covered), "{covered} of 200");
    }
}
