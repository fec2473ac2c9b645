//! Stage 3, early prioritisation: how far to look ahead (Web2K section 3.2 and 4.4.4.1).

use crate::knobs::Knobs;

/// How many requests of the acceptor queue are scanned for known important ones before one
/// other request is processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LookAhead {
    /// Kept from the measured mix. The paper's rule is that every important request is found
    /// when `k >= all / important`.
    #[default]
    Auto,
    /// Always this many; 1 means no preference.
    Fixed(u32),
}

/// Measures the mix of arrivals and keeps `k`.
#[derive(Debug)]
pub(crate) struct Scan {
    setting: LookAhead,
    longest: u32,
    all: u32,
    important: u32,
    /// Smoothed share of known important requests among arrivals.
    share: Option<f64>,
    k: u32,
}

impl Scan {
    /// `longest` is the length of the acceptor queue: looking further finds nothing.
    pub(crate) fn new(setting: LookAhead, longest: u32, knobs: Knobs) -> Self {
        let mut scan = Self { setting, longest, all: 0, important: 0, share: None, k: 1 };
        scan.retune(knobs);
        scan
    }

    /// Another setting; the mix measured so far counts on.
    pub(crate) fn reconfigure(&mut self, setting: LookAhead, longest: u32, knobs: Knobs) {
        (self.setting, self.longest) = (setting, longest);
        self.retune(knobs);
    }

    pub(crate) fn arrived(&mut self, important: bool) {
        self.all = self.all.saturating_add(1);
        self.important = self.important.saturating_add(u32::from(important));
    }

    /// The present `k`.
    pub(crate) fn k(&self) -> u32 {
        self.k
    }

    /// Ends a period: takes its mix into account.
    pub(crate) fn end_period(&mut self, knobs: Knobs) {
        const SMOOTHING: f64 = 0.2;
        if self.all > 0 {
            let now = f64::from(self.important) / f64::from(self.all);
            let before = self.share.unwrap_or(now);
            self.share = Some(before + SMOOTHING * (now - before));
        }
        (self.all, self.important) = (0, 0);
        self.retune(knobs);
    }

    /// Until a mix is known, and when hardly anybody important is about, the paper's default is
    /// what is needed: the rule would look through the whole queue in vain.
    pub(crate) fn retune(&mut self, knobs: Knobs) {
        const UNKNOWN: f64 = 12.0;
        const RARE: f64 = 0.001;
        let needed = match self.share {
            Some(share) if share >= RARE => 1.0 / share,
            _ => UNKNOWN,
        };
        let wanted = match self.setting {
            LookAhead::Fixed(k) => f64::from(k),
            LookAhead::Auto => stretch(needed, knobs.differentiation.as_f64()),
        };
        self.k = (wanted as u32 + u32::from(wanted > f64::from(wanted as u32))).clamp(1, self.longest);
    }
}

/// From no look-ahead at 0 through the paper's rule at one half to four times it at 1, which
/// leaves room for a mix that is burstier than its mean.
fn stretch(needed: f64, differentiation: f64) -> f64 {
    if differentiation <= 0.5 {
        1.0 + 2.0 * differentiation * (needed - 1.0)
    } else {
        needed * (1.0 + 6.0 * (differentiation - 0.5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Ratio;

    #[track_caller]
    fn check(differentiation: f64, all: u32, important: u32, k: u32) {
        let knobs = Knobs { differentiation: Ratio::clamped(differentiation), ..Knobs::default() };
        let mut scan = Scan::new(LookAhead::Auto, 2048, knobs);
        for n in 0..all {
            scan.arrived(n < important);
        }
        scan.end_period(knobs);
        assert_eq!(scan.k(), k);
    }

    #[test]
    fn k_follows_the_mix_and_the_knob() {
        check(0.0, 60, 10, 1);
        check(0.5, 60, 10, 6);
        check(0.5, 40, 10, 4);
        check(1.0, 60, 10, 24);
        check(1.0, 60, 0, 48);
        check(0.5, 0, 0, 12);
    }

    #[test]
    fn k_never_passes_the_queue() {
        let scan = Scan::new(LookAhead::Fixed(500), 100, Knobs::default());
        assert_eq!(scan.k(), 100);
    }
}
