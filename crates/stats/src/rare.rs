//! Intervals of what happens seldom, and then often at once.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, Gamma};

const TAIL: f64 = 0.025;

/// The 95 % interval of the expected sum of events in parts that are independent of one another, of which many have none;
/// `None` where nothing happened at all. The sum is taken for one of clusters that come as a Poisson process does, and the
/// interval is by the gamma distribution with the moments of that (Fay and Feuer, "Confidence intervals for directly
/// standardized rates: a method based on the gamma distribution", 1997): unlike Student's it is not the same to both
/// sides, and covers nearly as often as it should where a few clusters are all there is.
///
/// Of a few clusters of unlike sizes it is not known how large others are, and the interval is as wide as for exponential
/// sizes of unknown mean: then the sum over its expectation is F-distributed, with as many degrees of freedom as twice the
/// clusters.
pub(crate) fn interval_of_sum(events: impl Iterator<Item = f64> + Clone) -> Option<[f64; 2]> {
    let sum: f64 = events.clone().sum();
    let squares: f64 = events.clone().map(|events| events * events).sum();
    let clusters = || events.clone().filter(|events| *events > 0.0);
    let (largest, smallest) = (clusters().fold(0.0, f64::max), clusters().fold(f64::INFINITY, f64::min));
    let low = quantile(TAIL, sum, squares)?;
    let high = quantile(1.0 - TAIL, sum + largest, squares + largest * largest)?;
    let count = clusters().count() as f64;
    if count > 1.0 && largest <= UNLIKE * smallest || largest <= 1.0 {
        return Some([low, high]);
    }
    let law = FisherSnedecor::new(2.0 * count + 1.0, 2.0 * count).ok()?;
    let times = |portion: f64| (1.0 + 0.5 / count) * law.inverse_cdf(portion);
    Some([low.min(sum * times(TAIL)), high.max(sum * times(1.0 - TAIL))])
}

/// The upper end of the 95 % interval of a Poisson number of which there was none.
pub(crate) fn most_where_none_was_seen() -> f64 {
    -TAIL.ln()
}

/// Clusters are of unlike sizes where one is so many times another.
const UNLIKE: f64 = 1.5;

/// Of a gamma distribution with this mean and variance.
fn quantile(portion: f64, mean: f64, variance: f64) -> Option<f64> {
    Some(Gamma::new(mean * mean / variance, mean / variance).ok()?.inverse_cdf(portion))
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;

    use super::*;

    #[test]
    fn single_events_have_the_exact_interval_of_a_poisson_number() {
        // Garwood's, of five: 1.623 to 11.668.
        let [low, high] = interval_of_sum([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0].into_iter()).unwrap();
        assert!((low - 1.623).abs() < 2e-3 && (high - 11.668).abs() < 2e-3, "{low} {high}");
        assert_eq!(interval_of_sum([0.0; 5].into_iter()), None);
    }

    #[test]
    fn a_few_clusters_are_covered() {
        let mut random = Random::seed_from_u64(7);
        let mut covered = 0;
        let (rate, mean) = (0.1, 20.0);
        for _ in 0..1000 {
            let parts: Vec<f64> =
                (0..64)
                    .map(|_| {
                        if random.random_bool(rate) {
                            -mean * (1.0 - random.random::<f64>()).ln()
                        } else {
                            0.0
                        }
                    })
                    .collect();
            let interval = interval_of_sum(parts.into_iter());
            covered +=
                u32::from(interval.is_some_and(|[low, high]| (low..=high).contains(&(64.0 * rate * mean))));
        }
        // Of six clusters in the mean whose sizes are exponential.
        assert!((940..1000).contains(&covered), "{covered}");
    }
}
