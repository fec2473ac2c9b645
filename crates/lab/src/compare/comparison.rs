//! Whether two records differ by more than chance explains.
//!
//! Each [`Figure`] of one record is compared with the same of the other by Welch's test; as several are compared at
//! once, the level is that of all of them together.

use std::path::Path;

use serde::Serialize;
use stats::significance;

use super::figures::{self, Better, Figure};
use crate::error::Error;

/// Two records, figure by figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What both have, in the order of the first.
    pub differences: Vec<Difference>,
    /// What only one of them has.
    pub unmatched: Vec<String>,
}

/// A figure in both records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Test and figure, such as `bare at server workers 4: capacity`.
    pub name: String,
    /// Such as `requests/s`.
    pub unit: String,
    /// The means.
    pub before: f64,
    /// Of the second record.
    pub after: f64,
    /// How likely so large a difference is by chance, as one of so many; null where it cannot be told.
    pub p: Option<f64>,
    /// Whether that is too unlikely.
    pub differs: bool,
    /// Whether it differs for the worse.
    pub is_worse: bool,
}

impl Comparison {
    /// Whether anything is worse in the second record.
    pub fn is_worse(&self) -> bool {
        self.differences.iter().any(|difference| difference.is_worse)
    }

    /// Whether anything differs.
    pub fn differs(&self) -> bool {
        self.differences.iter().any(|difference| difference.differs)
    }
}

/// Compares two experiments, or two runs of the generator.
///
/// # Errors
/// When one of them is neither, or cannot be read, or they have no figure in common.
pub fn compare(before: &Path, after: &Path) -> Result<Comparison, Error> {
    let (first, second) = (figures::read(before)?, figures::read(after)?);
    let same = |figure: &Figure, others: &[Figure]| others.iter().find(|it| it.name == figure.name).cloned();
    let pairs: Vec<(Figure, Figure)> =
        first.iter().filter_map(|figure| Some((figure.clone(), same(figure, &second)?))).collect();
    if pairs.is_empty() {
        return Err(Error::Incomparable { before: before.to_owned(), after: after.to_owned() });
    }
    let lacks = |of: &[Figure], others: &[Figure]| -> Vec<String> {
        of.iter().filter(|figure| same(figure, others).is_none()).map(|figure| figure.name.clone()).collect()
    };
    let unmatched = [lacks(&first, &second), lacks(&second, &first)].concat();
    let chances =
        pairs.iter().map(|(before, after)| significance::welch(&before.values, &after.values)).collect();
    let chances = significance::holm(chances);
    let differences = pairs.iter().zip(chances).map(|((before, after), p)| difference(before, after, p));
    Ok(Comparison { differences: differences.collect(), unmatched })
}

/// Of a figure that had these values, and has those now.
pub(super) fn difference_of(figure: &Figure, before: &[f64], after: &[f64], p: Option<f64>) -> Difference {
    let with = |values: &[f64]| Figure { values: values.to_vec(), interval: None, ..figure.clone() };
    difference(&with(before), &with(after), p)
}

fn difference(first: &Figure, second: &Figure, p: Option<f64>) -> Difference {
    let (before, after) = (first.mean(), second.mean());
    let differs = match p {
        Some(p) => p < significance::LEVEL,
        // One value each, with an interval that is not a matter of chance alone: they differ if those do.
        None => first
            .interval
            .zip(second.interval)
            .is_some_and(|(one, other)| one[1] < other[0] || other[1] < one[0]),
    };
    let is_less = after < before;
    let is_worse = differs && (is_less == (first.better == Better::Higher));
    Difference { name: first.name.clone(), unit: first.unit.clone(), before, after, p, differs, is_worse }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(better: Better, values: &[f64], interval: Option<[f64; 2]>) -> Figure {
        let (name, unit) = ("x".to_owned(), "/s".to_owned());
        Figure { name, unit, better, values: values.to_vec(), interval }
    }

    #[test]
    fn what_is_worse_depends_on_the_figure() {
        let rate = |values: &[f64]| figure(Better::Higher, values, None);
        assert!(difference(&rate(&[10.0]), &rate(&[5.0]), Some(0.01)).is_worse);
        assert!(!difference(&rate(&[5.0]), &rate(&[10.0]), Some(0.01)).is_worse);
        assert!(!difference(&rate(&[10.0]), &rate(&[5.0]), Some(0.2)).differs);
        let latency = |values: &[f64]| figure(Better::Lower, values, None);
        assert!(difference(&latency(&[0.1]), &latency(&[0.2]), Some(0.01)).is_worse);
    }

    #[test]
    fn single_values_differ_when_their_intervals_do() {
        let capacity = |rate: f64| figure(Better::Higher, &[rate], Some([rate * 0.98, rate * 1.02]));
        assert!(!difference(&capacity(100.0), &capacity(103.0), None).differs);
        assert!(difference(&capacity(100.0), &capacity(90.0), None).is_worse);
    }
}
