//! [`Pauses`]: how long users pause between pages, learnt from the sessions of a class.

use units::Span;

/// An estimate of the pause within which nineteen of twenty users come back.
///
/// It is a quantile found by stochastic approximation (Robbins and Monro 1951): who comes back later raises it,
/// who comes back sooner lowers it by a nineteenth of that. Single sessions do not move it far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pauses {
    seconds: f64,
}

/// The share of users that pause for longer.
const LATE: f64 = 0.05;
/// How far one pause moves it, as a part of it.
const STEP: f64 = 1.0 / 16.0;
/// What comes sooner belongs to the same page.
const SHORTEST: Span = Span::from_secs(1);
/// Bounds of the estimate, in seconds.
const MIN: f64 = 10.0;
const MAX: f64 = 300.0;
/// A session is under way for so many times the estimate: where pauses are as different as chance makes them
/// (exponential), one in four hundred is longer.
const MARGIN: f64 = 2.0;

impl Pauses {
    /// Nothing is known yet.
    pub(crate) const UNKNOWN: Self = Self { seconds: 60.0 };

    /// A session has come back after this.
    pub(crate) fn learn(&mut self, pause: Span) {
        if pause < SHORTEST {
            return;
        }
        let late = pause.as_secs_f64() > self.seconds;
        let step = if late { STEP * (1.0 - LATE) } else { -STEP * LATE };
        self.seconds = (self.seconds * (1.0 + step)).clamp(MIN, MAX);
    }

    /// How long after its last request a session is still under way.
    pub(crate) fn longest(&self) -> Span {
        Span::from_secs_f64(self.seconds * MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn it_comes_to_rest_where_one_in_twenty_is_late() {
        let mut rng = Rng::with_seed(1);
        let mut pauses = Pauses::UNKNOWN;
        for _ in 0..20_000 {
            pauses.learn(Span::from_secs_f64(rng.f64() * 40.0));
        }
        let found = pauses.longest().as_secs_f64() / MARGIN;
        assert!((36.0..=40.0).contains(&found), "{found}");
    }

    #[test]
    fn it_is_bounded_and_objects_of_a_page_do_not_count() {
        let learnt = |pause: Span| {
            let mut pauses = Pauses::UNKNOWN;
            (0..100_000).for_each(|_| pauses.learn(pause));
            pauses.longest().as_secs_f64() / MARGIN
        };
        assert_eq!(learnt(Span::from_millis(999)), 60.0);
        assert_eq!(learnt(Span::from_secs(1)), MIN);
        assert_eq!(learnt(Span::from_secs(10_000)), MAX);
    }
}
