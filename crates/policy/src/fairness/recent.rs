//! [`Recent`]: how often something has happened lately.

use units::{Span, Time};

/// A stretch of time; what happened in this one and the one before is recent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Epoch(u64);

impl Epoch {
    /// Long enough that a page with all that belongs to it falls into one or two of them.
    const LENGTH: Span = Span::from_secs(2);

    pub(crate) fn of(now: Time) -> Self {
        Self(now.as_nanos() / Self::LENGTH.as_nanos())
    }
}

/// A count over the present epoch and the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Recent {
    epoch: Epoch,
    now: u32,
    before: u32,
}

impl Recent {
    pub(crate) fn add(&mut self, epoch: Epoch) {
        self.advance(epoch);
        self.now = self.now.saturating_add(1);
    }

    pub(crate) fn count(&mut self, epoch: Epoch) -> u32 {
        self.advance(epoch);
        self.now.saturating_add(self.before)
    }

    fn advance(&mut self, epoch: Epoch) {
        match epoch.0.saturating_sub(self.epoch.0) {
            0 => return,
            1 => self.before = self.now,
            _ => self.before = 0,
        }
        (self.epoch, self.now) = (epoch, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_for_two_epochs_is_forgotten() {
        let at = |seconds| Epoch::of(Time::ZERO + Span::from_secs(seconds));
        let mut recent = Recent::default();
        recent.add(at(0));
        recent.add(at(1));
        recent.add(at(2));
        assert_eq!([recent.count(at(2)), recent.count(at(4)), recent.count(at(6))], [3, 1, 0]);
    }
}
