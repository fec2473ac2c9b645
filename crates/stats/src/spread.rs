//! [`Spread`]: median and range of a few repetitions, and of ratios that are paired by round.

use std::collections::BTreeMap;

use crate::order;

/// The repetitions of one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The one in the middle, or the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl Spread {
    /// Of the values; `None` when there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values = order::rising(values);
        Some(Self { median: order::median(&values)?, least: *values.first()?, most: *values.last()? })
    }

    /// Of the ratios `ours / theirs`, each of the two measured in the same round: what the
    /// machine does to both then cancels, which it would not in a ratio of two medians.
    pub fn of_ratios(ours: &BTreeMap<u32, f64>, theirs: &BTreeMap<u32, f64>) -> Option<Self> {
        let pairs = ours.iter().filter_map(|(round, ours)| Some((ours, theirs.get(round)?)));
        Self::of(pairs.filter(|(_, theirs)| **theirs > 0.0).map(|(ours, theirs)| ours / theirs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_in_the_middle() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { median: 2.0, least: 1.0, most: 3.0 }));
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0]).map(|spread| spread.median), Some(2.5));
    }

    #[test]
    fn ratios_pair_what_was_measured_in_the_same_round() {
        let ours = BTreeMap::from([(0, 1.0), (1, 10.0), (2, 5.0)]);
        let theirs = BTreeMap::from([(0, 2.0), (1, 20.0), (3, 1.0)]);
        assert_eq!(Spread::of_ratios(&ours, &theirs), Some(Spread { median: 0.5, least: 0.5, most: 0.5 }));
        assert_eq!(Spread::of_ratios(&ours, &BTreeMap::from([(0, 0.0)])), None);
    }
}
