//! Median and spread of a few repetitions, and of ratios that are paired by round.

use std::collections::BTreeMap;

/// The repetitions of one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// Of at least one value.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            0 => f64::midpoint(values[middle - 1], values[middle]),
            _ => values[middle],
        };
        Some(Self { median, least, most })
    }

    /// Of the ratios `ours / theirs`, each of the two measured in the same round: what the
    /// machine does to both then cancels, which it would not in a ratio of two medians.
    pub(crate) fn of_ratios(ours: &BTreeMap<u32, f64>, theirs: &BTreeMap<u32, f64>) -> Option<Self> {
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
