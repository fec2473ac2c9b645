//! [`Course`]: how many requests were answered in time, over time.

use std::ops::Range;

/// Requests by when they first came, in intervals of the same length.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    /// Seconds.
    interval: f64,
    /// How long after it first came a request has to be answered, in seconds.
    in_time: f64,
    counts: Vec<Counts>,
}

/// Requests that first came in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) began: u64,
    /// Those of them that were answered in time.
    pub(crate) in_time: u64,
}

impl Course {
    pub(crate) fn new(intervals: usize, interval: f64, in_time: f64) -> Self {
        Self { interval, in_time, counts: vec![Counts::default(); intervals] }
    }

    fn at(&mut self, time: f64) -> Option<&mut Counts> {
        self.counts.get_mut((time / self.interval) as usize)
    }

    /// A request came for the first time.
    pub(crate) fn began(&mut self, now: f64) {
        if let Some(counts) = self.at(now) {
            counts.began += 1;
        }
    }

    /// One that had begun then was answered.
    pub(crate) fn answered(&mut self, now: f64, began: f64) {
        if now - began <= self.in_time
            && let Some(counts) = self.at(began)
        {
            counts.in_time += 1;
        }
    }

    /// The share of those that came in these intervals that was answered in time; 1 where none came.
    pub(crate) fn share(&self, intervals: Range<usize>) -> f64 {
        let counts = self.counts.get(intervals).unwrap_or_default();
        let (began, in_time) = sums(counts);
        if began == 0 { 1.0 } else { in_time as f64 / began as f64 }
    }

    /// The first interval, from `from` on, that begins `lasting` ones in which so large a share was answered in time.
    pub(crate) fn recovers(&self, from: usize, lasting: usize, share: f64) -> Option<usize> {
        let after = self.counts.get(from..)?;
        let is_enough = |counts: &[Counts]| {
            let (began, in_time) = sums(counts);
            in_time as f64 >= share * began as f64
        };
        after.windows(lasting).position(is_enough)
    }
}

fn sums(counts: &[Counts]) -> (u64, u64) {
    counts.iter().fold((0, 0), |(began, in_time), one| (began + one.began, in_time + one.in_time))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use super::*;

    #[test]
    fn it_recovers_when_enough_are_answered_in_time_for_long_enough() {
        let mut course = Course::new(10, 0.5, 1.0);
        // Ten in each interval; all are late in the fourth and fifth, and one in ten in the seventh.
        for interval in 0..10 {
            for request in 0..10 {
                let began = f64::from(interval) * 0.5 + 0.01 * f64::from(request);
                course.began(began);
                let is_late = (3..5).contains(&interval) || (interval == 6 && request == 0);
                course.answered(began + if is_late { 1.5 } else { 0.9 }, began);
            }
        }
        assert_eq!(course.recovers(0, 2, 0.95), Some(0));
        assert_eq!(course.recovers(3, 2, 0.95), Some(2), "five of a hundred may be late");
        assert_eq!(course.recovers(3, 2, 0.96), Some(4));
        assert_eq!(course.recovers(3, 6, 0.99), None, "for so long it is not seen");
        course.began(0.0);
        course.answered(9.0, 8.9);
        assert_eq!(course.counts[0], Counts { began: 11, in_time: 10 });
    }
}
