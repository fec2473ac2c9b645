//! [`Silence`]: how long a session is silent before it must have ended.

use units::Span;

/// Of all the time that passes between requests of a session, so much lies in pauses that are longer than the estimate.
///
/// A quantile found by stochastic approximation (Robbins and Monro 1951), in which a pause counts for as much as it is long. So it
/// does not matter how many objects a page has, which come at once, and a visitor who reads for long is not taken
/// for one who has left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Silence {
    seconds: f64,
    learnt: u32,
}

/// The share of the time.
const LATE: f64 = 0.05;
/// How far one pause as long as the estimate moves it, as a part of it: the first ones farther.
const STEP: f64 = 1.0 / 16.0;
const FIRST: f64 = 8.0;
/// No pause counts for more of them.
const MAX_WEIGHT: f64 = 4.0;
/// Bounds of the estimate, in seconds.
const MIN: f64 = 0.05;
const MAX: f64 = 300.0;
/// After so many times the estimate none comes back: where pauses are as different as chance makes them (exponential),
/// one in a thousand.
const MARGIN: f64 = 1.5;
/// So many pauses have to be seen first.
const ENOUGH: u32 = 32;

impl Silence {
    /// Nothing is known yet. It is found sooner from below.
    pub(crate) const UNKNOWN: Self = Self { seconds: 1.0, learnt: 0 };

    /// A session has come back after this.
    pub(crate) fn learn(&mut self, pause: Span) {
        let pause = pause.as_secs_f64();
        let weight = (pause / self.seconds).min(MAX_WEIGHT);
        let far = weight * STEP.max(FIRST / (FIRST + f64::from(self.learnt)));
        let step = if pause > self.seconds { far * (1.0 - LATE) } else { -far * LATE };
        self.seconds = (self.seconds * (1.0 + step)).clamp(MIN, MAX);
        self.learnt = self.learnt.saturating_add(u32::from(weight > LATE));
    }

    /// After how long a session has ended, as soon as that is known.
    pub(crate) fn of_the_end(&self) -> Option<Span> {
        (self.learnt >= ENOUGH).then(|| Span::from_secs_f64(self.seconds * MARGIN))
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    fn learnt(pauses: u32, mut next: impl FnMut(u32) -> f64) -> f64 {
        let mut silence = Silence::UNKNOWN;
        (0..pauses).for_each(|pause| silence.learn(Span::from_secs_f64(next(pause))));
        silence.of_the_end().map_or(0.0, |end| end.as_secs_f64())
    }

    #[test]
    fn of_random_pauses_hardly_any_is_longer() {
        let mut rng = Rng::with_seed(1);
        // By the time in them, one in twenty is longer than 4.7 times the mean.
        let found = learnt(20_000, |_| -7.0 * (1.0 - rng.f64()).ln());
        assert!((40.0..65.0).contains(&found), "{found}");
    }

    #[test]
    fn objects_of_pages_do_not_matter_and_little_is_enough_to_know() {
        for pause in [0.25, 10.0] {
            let found = learnt(1000, |number| if number % 20 == 0 { pause } else { 0.005 });
            // It begins with one and a half.
            assert!((pause..(2.5 * pause).max(1.5)).contains(&found), "{found} for {pause}");
        }
        assert!(learnt(31, |_| 3.0) == 0.0 && learnt(60, |_| 3.0) > 3.0);
    }
}
