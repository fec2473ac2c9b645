//! [`Draw`]: the numbers of one part of a world, from the world's seed.

use std::ops::Range;
use std::time::Duration;

/// Random numbers for one purpose. Each client has its own, so that what one does leaves the draws of others alone.
#[derive(Debug, Clone)]
pub struct Draw(fastrand::Rng);

impl Draw {
    /// The numbers of `purpose` in the world of `seed`.
    pub fn new(seed: u64, purpose: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ purpose))
    }

    /// Whether what happens in this share of cases happens now.
    pub fn happens(&mut self, share: f64) -> bool {
        self.0.f64() < share
    }

    /// A number of the range.
    pub fn number(&mut self, range: Range<u64>) -> u64 {
        self.0.u64(range)
    }

    /// A factor between `low` and `high`, as likely to be in one octave as in another.
    pub fn spread(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.f64())
    }

    /// Exponentially distributed, in whole milliseconds and at most 20 times the mean.
    pub fn span(&mut self, mean: Duration) -> Duration {
        let factor = (-(1.0 - self.0.f64()).ln()).min(20.0);
        Duration::from_millis((mean.as_secs_f64() * factor * 1e3) as u64)
    }

    /// One of the list, each as likely as its weight says.
    pub fn choose<T: Copy>(&mut self, of: &[(f64, T)]) -> T {
        let sum: f64 = of.iter().map(|(weight, _)| weight).sum();
        let mut left = self.0.f64() * sum;
        for (weight, what) in of {
            left -= weight;
            if left < 0.0 {
                return *what;
            }
        }
        of[of.len() - 1].1
    }
}
