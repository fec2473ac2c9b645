//! [`Chance`]: what is drawn for connections, from one seed.

use std::ops::Range;
use std::time::Duration;

use super::fault::{Faults, Made};
use super::slot::Slot;

/// The numbers of a network, and what they have made to happen.
#[derive(Debug)]
pub(super) struct Chance {
    pub(super) faults: Faults,
    random: Slot<fastrand::Rng>,
    made: Slot<Made>,
}

impl Chance {
    pub(super) fn new(seed: u64, faults: Faults) -> Self {
        Self { faults, random: Slot::new(fastrand::Rng::with_seed(seed)), made: Slot::default() }
    }

    pub(super) fn made(&self) -> Made {
        self.made.get()
    }

    /// A number below `limit`.
    pub(super) fn below(&self, limit: usize) -> usize {
        self.random.lock().usize(0..limit)
    }

    pub(super) fn draw_delay(&self) -> Duration {
        let Range { start, end } = self.faults.delay;
        start + (end.saturating_sub(start)).mul_f64(self.random.lock().f64())
    }

    pub(super) fn happens(&self, share: f64) -> bool {
        share > 0.0 && self.random.lock().f64() < share
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Made)) {
        let mut made = self.made.get();
        count(&mut made);
        self.made.set(made);
    }
}
