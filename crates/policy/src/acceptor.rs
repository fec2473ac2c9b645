//! Stage 1, the acceptor cycle (Web2K section 3.1).

/// How many requests one cycle processes, `m`, adapted to the load.
///
/// After a cycle without arrivals `m` doubles, up to `n`; after one with arrivals it halves,
/// down to 1. At low load nothing waits; in a flood the driver spends its turns on draining the
/// listen queue.
#[derive(Debug)]
pub(crate) struct Acceptor {
    burst: u32,
    quota: u32,
    arrivals: u32,
}

impl Acceptor {
    pub(crate) fn new(burst: u32) -> Self {
        Self { burst, quota: burst, arrivals: 0 }
    }

    /// Another `n`.
    pub(crate) fn set_burst(&mut self, burst: u32) {
        self.burst = burst;
        self.quota = self.quota.min(burst);
    }

    pub(crate) fn arrived(&mut self) {
        self.arrivals = self.arrivals.saturating_add(1);
    }

    /// Ends a cycle: how many requests may be processed in it.
    pub(crate) fn end_cycle(&mut self) -> u32 {
        self.quota = if self.arrivals == 0 {
            self.quota.saturating_mul(2).min(self.burst)
        } else {
            (self.quota / 2).max(1)
        };
        self.arrivals = 0;
        self.quota
    }

    /// The present `m`.
    pub(crate) fn quota(&self) -> u32 {
        self.quota
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_halves_in_a_flood_and_doubles_after_it() {
        let mut acceptor = Acceptor::new(8);
        let mut cycle = |arrivals: u32| {
            (0..arrivals).for_each(|_| acceptor.arrived());
            acceptor.end_cycle()
        };
        assert_eq!([cycle(5), cycle(1), cycle(9), cycle(9)], [4, 2, 1, 1]);
        assert_eq!([cycle(0), cycle(0), cycle(0), cycle(0)], [2, 4, 8, 8]);
    }
}
