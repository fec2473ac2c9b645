//! The operator's two knobs and what they are translated into (Web2K section 5).

use units::{Ratio, Span};

/// Preferences instead of parameters. Both can be moved while running.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knobs {
    /// 0: all classes alike; 1: strict priority. Sets the look-ahead, the scheduling weights
    /// and the places that only the important may take.
    pub differentiation: Ratio,
    /// 0: fastest responses; 1: most sessions. Sets the target queue lengths, how long requests are
    /// held back, and how many sessions are under way.
    pub favour: Ratio,
}

impl Default for Knobs {
    fn default() -> Self {
        Self { differentiation: Ratio::clamped(0.9), favour: Ratio::clamped(0.5) }
    }
}

impl Knobs {
    /// Whether classes differ at all.
    pub(crate) fn differentiates(self) -> bool {
        self.differentiation > Ratio::ZERO
    }

    /// Whether a less important class waits for all others.
    pub(crate) fn strict(self) -> bool {
        self.differentiation >= Ratio::ONE
    }

    /// Scheduling weight of a class that stands `steps` above the least important one: each
    /// step is worth `1 / (1 - differentiation)`, so 0.9 gives ten to one.
    pub(crate) fn weight(self, steps: usize) -> f64 {
        const STRICT: f64 = 1e-6;
        const MAX_WEIGHT: f64 = 1e9;
        let step = 1.0 / (1.0 - self.differentiation.as_f64()).max(STRICT);
        (0..steps).fold(1.0, |weight: f64, _| (weight * step).min(MAX_WEIGHT))
    }

    /// How long a request should wait in a class queue in overload, as a part of its client's
    /// patience: from a tenth (fastest responses) to four fifths (most sessions).
    pub(crate) fn target_wait(self, patience: Span) -> Span {
        patience.mul_f64(0.1 + 0.7 * self.favour.as_f64())
    }

    /// How long requests of sessions that have begun should wait at most, before fewer sessions begin: from a fiftieth of their clients'
    /// patience (fastest responses) to as long as they do (most sessions: they begin at the pace at which they can be finished).
    pub(crate) fn longest_wait_inside(self, patience: Span) -> Span {
        const SHORTEST: f64 = 0.02;
        const SLOPE: f64 = 0.2;
        const LONGEST: f64 = 1e3;
        let favour = self.favour.as_f64();
        let unfavoured = (1.0 - favour).max(f64::MIN_POSITIVE);
        let part = SHORTEST + SLOPE * favour / (unfavoured * unfavoured);
        patience.mul_f64(part.min(LONGEST))
    }

    /// How long a session may wait to begin, where the newest go first: who came long ago has hardly a prospect, and is rather told.
    pub(crate) fn wait_at_door(self, patience: Span) -> Span {
        patience.mul_f64(0.1 + 0.35 * self.favour.as_f64())
    }

    /// Places on top of a window of `size` that only the important may take, so that they need
    /// not wait for somebody to leave: a multiple of the square root, like a safety staffing.
    pub(crate) fn express(self, size: u32) -> u32 {
        (self.differentiation.as_f64() * f64::from(size.isqrt()) + 0.5) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knobs(differentiation: f64, favour: f64) -> Knobs {
        Knobs { differentiation: Ratio::clamped(differentiation), favour: Ratio::clamped(favour) }
    }

    #[test]
    fn differentiation_sets_weights_and_places() {
        assert_eq!(knobs(0.0, 0.5).weight(1), 1.0);
        assert!((knobs(0.9, 0.5).weight(1) - 10.0).abs() < 1e-9);
        assert!((knobs(0.9, 0.5).weight(2) - 100.0).abs() < 1e-6);
        for (size, express) in [(1, 1), (2, 1), (4, 2), (150, 11)] {
            assert_eq!(knobs(0.9, 0.5).express(size), express, "window of {size}");
        }
        assert_eq!(knobs(0.0, 0.5).express(150), 0);
        assert_eq!(knobs(0.1, 0.5).express(4), 0);
    }

    #[test]
    fn favour_sets_the_wait_of_those_who_have_begun() {
        let longest = |favour| knobs(0.9, favour).longest_wait_inside(Span::from_secs(10)).as_secs_f64();
        assert_eq!([0.0, 0.5].map(longest), [0.2, 4.2]);
        assert!(longest(0.9) > 100.0 && longest(1.0) >= 1e4, "as long as they do");
    }

    #[test]
    fn favour_sets_the_wait() {
        let deadline = Span::from_secs(10);
        assert_eq!(knobs(0.9, 0.0).target_wait(deadline), Span::from_secs(1));
        assert_eq!(knobs(0.9, 1.0).target_wait(deadline), Span::from_secs(8));
    }
}
