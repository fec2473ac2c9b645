//! How often each file is asked for: Zipf's law, dealt out so that the lengths of the requests
//! follow Pareto's.

use crate::model::law::Pareto;

use super::files::CUT;

/// The lengths of what is requested, each request counted.
const REQUESTED: Pareto = Pareto { least: 1000.0, shape: 1.0 };

/// The lengths of the requests, with a share of them for the tail of the files that can differ
/// from the one that the published distribution has.
pub(super) struct Requested {
    tail: f64,
}

impl Requested {
    /// Exactly as published: 0.75 % of the requests are for more than 133 KB.
    pub(super) const AS_PUBLISHED: Self = Self { tail: REQUESTED.least / CUT };

    /// Above and below the cut as published, with this share of the requests above it.
    pub(super) const fn with_tail(tail: f64) -> Self {
        Self { tail }
    }

    /// The share of requests for more than `length` bytes.
    fn above(&self, length: f64) -> f64 {
        let (published, published_tail) = (REQUESTED.above(length), REQUESTED.above(CUT));
        if length >= CUT {
            self.tail * published / published_tail
        } else {
            1.0 - (1.0 - self.tail) * (1.0 - published) / (1.0 - published_tail)
        }
    }
}

/// How often each of the files with these lengths, which rise, is asked for in one round. The
/// counts are those of Zipf's law with the least popular file asked for once; the n-th most
/// popular has 1/n of the requests of the first.
///
/// Which file gets which count is decided from the longest file down: each takes the count that
/// brings the requests for files at least as long closest to what they should be. From the
/// shortest up, what is left over in the end would go to the few longest files, where it matters
/// most for the bytes.
pub(super) fn requests(lengths: &[u64], requested: &Requested) -> Vec<u32> {
    let files = lengths.len();
    let mut unused: Vec<u32> =
        (1..=files).rev().map(|rank| (files as f64 / rank as f64).round() as u32).collect();
    let total: f64 = unused.iter().copied().map(f64::from).sum();
    let mut given = 0.0;
    let mut requests = vec![0; files];
    for file in (0..files).rev() {
        let below = file.checked_sub(1).map_or(0, |shorter| lengths[shorter]);
        let due = requested.above(below as f64) * total - given;
        let least = unused.partition_point(|count| f64::from(*count) < due).min(unused.len() - 1);
        let closer_below = least > 0 && due - f64::from(unused[least - 1]) <= f64::from(unused[least]) - due;
        requests[file] = unused.remove(least - usize::from(closer_below));
        given += f64::from(requests[file]);
    }
    requests
}
