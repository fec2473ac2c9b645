//! Where in a series of values their mean changes, as releases of a program have it from one to the next.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::moments::Deviations;

/// A series falls apart into no fewer values than this: with two there is hardly a spread.
const FEWEST: usize = 3;
/// Orders in which the values are put to see what chance does; a chance below one of as many cannot be told.
const ORDERS: u32 = 999;
/// The outcome is that of one draw, for ever.
const SEED: u64 = 0x6865_6164;

/// Values before which the mean changes, by their places in rising order: those where it differs most between what is
/// before and what is after, unless so large a difference is as likely in any other order of the values (a permutation
/// test, at `level`); then on both sides of it (binary segmentation; Matteson and James, "A nonparametric approach for
/// multiple change point analysis of multivariate data", 2014, with Welch's statistic in place of the energy's).
///
/// The values have to be independent of each other: a machine that is slow for some days is a change to it.
pub fn changes(values: &[f64], level: f64) -> Vec<usize> {
    let mut found = Vec::new();
    split(values, 0, level, &mut found);
    found.sort_unstable();
    found
}

fn split(values: &[f64], from: usize, level: f64, found: &mut Vec<usize>) {
    let Some((at, most)) = largest(values) else { return };
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut shuffled = values.to_vec();
    let mut as_large = 0;
    // It is known before all of them have been tried where it is not rare at all.
    let allowed = level * f64::from(ORDERS + 1);
    for _ in 0..ORDERS {
        shuffled.shuffle(&mut chance);
        as_large += u32::from(largest(&shuffled).is_some_and(|(_, other)| other >= most));
        if f64::from(as_large + 1) > allowed {
            return;
        }
    }
    found.push(from + at);
    split(&values[..at], from, level, found);
    split(&values[at..], from + at, level, found);
}

/// Where the values before and after differ most, in standard errors of the difference.
fn largest(values: &[f64]) -> Option<(usize, f64)> {
    let places = FEWEST..(values.len() + 1).saturating_sub(FEWEST);
    let apart = places.map(|at| {
        let (before, after) = values.split_at(at);
        let [before, after] = [before, after].map(Deviations::of);
        let error = (before.squared_error() + after.squared_error()).sqrt();
        let apart = (before.mean() - after.mean()).abs();
        (at, if apart == 0.0 { 0.0 } else { apart / error.max(f64::MIN_POSITIVE) })
    });
    apart.max_by(|one, other| one.1.total_cmp(&other.1))
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;

    /// Independent values about 100 with a spread of about 2.
    fn noise(seed: u64, length: usize) -> Vec<f64> {
        let mut chance = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..length)
            .map(|_| 100.0 + (0..12).map(|_| chance.random::<f64>() - 0.5).sum::<f64>() * 2.0)
            .collect()
    }

    #[test]
    fn changes_are_found_where_they_are() {
        let mut values = noise(1, 60);
        values[20..].iter_mut().for_each(|value| *value += 6.0);
        values[40..].iter_mut().for_each(|value| *value -= 10.0);
        let found = changes(&values, 0.01);
        assert!(matches!(found[..], [19..=21, 39..=41]), "{found:?}");
    }

    /// As often as the level says, and not more.
    #[test]
    fn noise_changes_rarely() {
        let alarms = (0..200).filter(|seed| !changes(&noise(*seed, 30), 0.05).is_empty()).count();
        assert!((2..=20).contains(&alarms), "{alarms} of 200");
    }

    #[test]
    fn short_and_constant_series_do_not_change() {
        assert_eq!(changes(&[], 0.05), [0; 0]);
        assert_eq!(changes(&[1.0, 1.0, 9.0, 9.0, 9.0], 0.05), [0; 0], "too few");
        assert_eq!(changes(&[1.0; 20], 0.05), [0; 0]);
        let step: Vec<f64> = (0..20).map(|at| f64::from(u8::from(at >= 8))).collect();
        assert_eq!(changes(&step, 0.05), [8]);
    }
}
