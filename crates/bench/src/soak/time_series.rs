//! [`TimeSeries`]: what the gate held while it was loaded, and whether that grew.

use serde::Serialize;
use stats::Spread;

/// What the gate held at one time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Sample {
    /// Since the load began.
    pub(super) seconds: f64,
    pub(super) resident_bytes: u64,
    pub(super) descriptors: usize,
}

/// All samples, in the order of time.
#[derive(Debug)]
pub(super) struct TimeSeries(pub(super) Vec<Sample>);

/// Parts into which the series is divided; the first is warm-up: caches, pools and the allocator fill.
pub(super) const PARTS: usize = 6;
/// How much more memory may be resident at the end: an allocator gives pages back when it likes.
const MEMORY_SHARE: f64 = 0.02;
/// How many more descriptors may be open: of clients that happen to be about.
const DESCRIPTORS: f64 = 5.0;
const DESCRIPTORS_SHARE: f64 = 0.02;

/// A figure in the half after the warm-up and in the half before the end: the one that a tenth of the
/// samples stay below. Bursts of clients come and go; what leaks is held when it is quiet, too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Growth {
    pub(super) before: f64,
    pub(super) after: f64,
    /// Whether that is more than what varies anyway.
    pub(super) grew: bool,
}

impl TimeSeries {
    /// A figure in each part of the series.
    pub(super) fn parts(&self, figure: impl Fn(&Sample) -> f64) -> Vec<Spread> {
        let length = self.0.len().div_ceil(PARTS).max(1);
        self.0.chunks(length).filter_map(|part| Spread::of(part.iter().map(&figure))).collect()
    }

    /// Resident bytes; `None` when there are too few samples.
    pub(super) fn memory(&self) -> Option<Growth> {
        self.growth(|sample| sample.resident_bytes as f64, |before| before * MEMORY_SHARE)
    }

    /// Open descriptors, likewise.
    pub(super) fn descriptors(&self) -> Option<Growth> {
        self.growth(
            |sample| sample.descriptors as f64,
            |before| (before * DESCRIPTORS_SHARE).max(DESCRIPTORS),
        )
    }

    fn growth(&self, figure: impl Fn(&Sample) -> f64, margin: impl Fn(f64) -> f64) -> Option<Growth> {
        let settled = self.0.get(self.0.len() / PARTS..)?;
        let (first, second) = settled.split_at(settled.len() / 2);
        let quiet =
            |half: &[Sample]| stats::order::upper_rank(&stats::order::rising(half.iter().map(&figure)), 0.1);
        let (before, after) = (quiet(first)?, quiet(second)?);
        Some(Growth { before, after, grew: after > before + margin(before) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(figures: impl Iterator<Item = (u64, usize)>) -> TimeSeries {
        let sample =
            |(at, (resident_bytes, descriptors))| Sample { seconds: at as f64, resident_bytes, descriptors };
        TimeSeries(figures.enumerate().map(sample).collect())
    }

    #[test]
    fn what_rises_in_the_warm_up_and_what_only_varies_has_not_grown() {
        let steady =
            series((0..60_u64).map(|at| (10_000_000 + at.min(8) * 1_000_000 + at % 7 * 100_000, 100)));
        let memory = steady.memory().unwrap();
        assert!(!memory.grew && memory.before >= 18_000_000.0, "{memory:?}");
        assert_eq!(steady.parts(|sample| sample.resident_bytes as f64).len(), PARTS);
    }

    #[test]
    fn bursts_that_end_are_no_growth() {
        // Longer and higher ones in the second half.
        let bursts =
            series((0..360).map(|at| (20_000_000, 100 + if at % 8 < at / 60 { at as usize } else { 0 })));
        let descriptors = bursts.descriptors().unwrap();
        assert_eq!((descriptors.before, descriptors.after, descriptors.grew), (100.0, 100.0, false));
    }

    #[test]
    fn a_slow_leak_is_found() {
        let leak = series((0..360).map(|at| (20_000_000 + at * 3_000, 200 + at as usize / 20)));
        assert!(leak.memory().unwrap().grew && leak.descriptors().unwrap().grew);
        assert_eq!(series([(1, 1)].into_iter()).memory(), None);
    }
}
