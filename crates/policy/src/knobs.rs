//! The operator's two knobs and what they are translated into (Web2K section 5).

use units::{Ratio, Span};

/// Preferences instead of parameters. Both can be moved while running.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knobs {
    /// 0: all classes alike; 1: strict priority. Sets the look-ahead, the scheduling weights
    /// and the places kept free for the important.
    pub differentiation: Ratio,
    /// 0: fastest responses; 1: most sessions. Sets the target queue lengths.
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
        let step = 1.0 / (1.0 - self.differentiation.as_f64()).max(STRICT);
        (0..steps).fold(1.0, |weight, _| weight * step)
    }

    /// How long a request should wait in a class queue in overload, as a part of that stage's
    /// deadline: from a twentieth (fastest responses) to a half (most sessions).
    pub(crate) fn target_wait(self, deadline: Span) -> Span {
        deadline.mul_f64(0.05 + 0.45 * self.favour.as_f64())
    }

    /// Places of a window of `size` that the least important class must leave free, so that an
    /// important request finds one: trunk reservation, sized like a safety staffing
    /// (a multiple of the square root). At least one place stays open to every class.
    pub(crate) fn reserve(self, size: u32) -> u32 {
        let places = self.differentiation.as_f64() * f64::from(size.isqrt());
        let rounded_up = places as u32 + u32::from(places > f64::from(places as u32));
        rounded_up.min(size.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knobs(differentiation: f64, favour: f64) -> Knobs {
        Knobs { differentiation: Ratio::clamped(differentiation), favour: Ratio::clamped(favour) }
    }

    #[test]
    fn differentiation_sets_weights_and_reserve() {
        assert_eq!(knobs(0.0, 0.5).weight(1), 1.0);
        assert!((knobs(0.9, 0.5).weight(1) - 10.0).abs() < 1e-9);
        assert!((knobs(0.9, 0.5).weight(2) - 100.0).abs() < 1e-6);
        for (size, reserve) in [(1, 0), (2, 1), (3, 1), (4, 2), (150, 11)] {
            assert_eq!(knobs(0.9, 0.5).reserve(size), reserve, "window of {size}");
        }
        assert_eq!(knobs(0.0, 0.5).reserve(150), 0);
    }

    #[test]
    fn favour_sets_the_wait() {
        let deadline = Span::from_secs(10);
        assert_eq!(knobs(0.9, 0.0).target_wait(deadline), Span::from_millis(500));
        assert_eq!(knobs(0.9, 1.0).target_wait(deadline), Span::from_secs(5));
    }
}
