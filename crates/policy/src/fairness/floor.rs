//! [`Floor`]: the share that new sessions get of what others take first.

use units::Ratio;

/// What new sessions are owed, in requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Floor {
    owed: f64,
}

impl Floor {
    /// `requests` were served while new sessions waited, of which `share` is theirs. What they did not come
    /// for is not saved up beyond one such lot.
    pub(crate) fn earn(&mut self, requests: f64, share: Ratio) {
        let earned = requests * share.as_f64();
        self.owed = (self.owed + earned).min(1.0 + earned);
    }

    /// A request of a new session was let through.
    pub(crate) fn spend(&mut self) {
        self.owed = (self.owed - 1.0).max(0.0);
    }

    /// Whether a new session's turn has come, also while sessions under way wait.
    pub(crate) fn is_due(&self) -> bool {
        self.owed >= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_comes_to_whole_requests_and_is_not_saved_up() {
        let (mut floor, share) = (Floor::default(), Ratio::clamped(0.05));
        let mut served = |rounds: u32| {
            let mut new = 0;
            for _ in 0..rounds {
                floor.earn(1.0, share);
                if floor.is_due() {
                    floor.spend();
                    new += 1;
                }
            }
            new
        };
        assert!((49..=51).contains(&served(1000)));
        for _ in 0..1000 {
            floor.earn(1.0, share);
        }
        floor.spend();
        assert!(!floor.is_due());
    }
}
