//! [`Plan`]: how much to simulate.

use std::num::NonZeroUsize;
use std::ops::Range;

/// Replications are judged after this many, and whenever there are a quarter more, whatever the number
/// of cores, so that the outcome does not depend on it.
pub(crate) const ROUND: u32 = 8;
/// Replications that are kept in memory one by one.
const MAX_AT_ONCE: u32 = 256;

/// How much to simulate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Where random numbers begin.
    pub seed: u64,
    /// Requests in a replication at least, warm-up not included.
    pub requests: u64,
    /// Requests before those; found by MSER-5 in pilot runs when it is `None`.
    pub warmup: Option<u64>,
    /// Replications at most.
    pub replications: u32,
    /// No more replications when the confidence intervals of the share of rejected requests, of mean
    /// latency and of its 90th percentile are narrower than so much of them, to either side.
    pub precision: Option<f64>,
    /// And not before so many requests have been rejected, however rare that is: of few it is not known how often
    /// it happens.
    pub rejections: Option<u64>,
    /// One run as long as all replications together instead of them, for what takes long to settle;
    /// intervals come from overlapping batch means.
    pub long_run: bool,
    /// Threads that simulate; all there are when it is `None`.
    pub cores: Option<NonZeroUsize>,
}

impl Plan {
    /// Whether fewer replications may do.
    pub fn ends_early(&self) -> bool {
        self.precision.is_some() || self.rejections.is_some()
    }

    /// The replications to do before the outcome is judged again, when so many are `done`.
    pub(crate) fn round(&self, done: u32) -> Range<u32> {
        let more = if self.ends_early() { ROUND.max(done / 4).min(MAX_AT_ONCE) } else { MAX_AT_ONCE };
        done..done.saturating_add(more).min(self.replications)
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 1,
            requests: 200_000,
            warmup: None,
            replications: 400,
            precision: Some(0.01),
            rejections: None,
            long_run: false,
            cores: None,
        }
    }
}
