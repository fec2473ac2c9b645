//! [`Patience`]: how long the clients of a class wait before they give up.

use units::Span;

/// The wait that hardly anybody gives up before, found from those who did and those who were served.
///
/// It is a quantile, followed step by step (Robbins and Monro 1951): who gives up earlier pulls it
/// down, who was served raises it, as much less as fewer are to give up, and in proportion to how
/// long he had waited: who had not to wait says nothing about patience. Since queues are as long as
/// patience allows, it comes to rest where about one in forty gives up; single clients that leave
/// early do not move it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patience {
    seconds: f64,
}

/// The share of those who wait for the whole of it that may give up.
const IMPATIENT: f64 = 0.05;
/// How far one request moves it, as a part of it: some ten clients that give up halve it.
const STEP: f64 = 1.0 / 16.0;
/// Waits that are a smaller part of it would hardly move it, and most are smaller.
const TRIED: f64 = 1.0 / 16.0;

impl Patience {
    /// Nothing is known yet: clients wait as long as they are let.
    pub(crate) const UNKNOWN: Self = Self { seconds: f64::INFINITY };

    /// A client went away that had waited this long; what is found is between the two bounds.
    pub(crate) fn gave_up(&mut self, waited: Span, shortest: Span, longest: Span) {
        let known = self.span(longest);
        if waited < known {
            let seconds = known.as_secs_f64() * (1.0 - STEP * (1.0 - IMPATIENT));
            self.seconds = seconds.max(shortest.as_secs_f64());
        }
    }

    /// Whether it says anything that a client was still there after this wait.
    pub(crate) fn is_tried_by(self, waited: Span) -> bool {
        waited.as_secs_f64() > TRIED * self.seconds
    }

    /// A client was still there after this wait, which counts for that much.
    pub(crate) fn waited(&mut self, waited: Span, weight: f64) {
        let part = (waited.as_secs_f64() / self.seconds).min(1.0);
        self.seconds *= 1.0 + STEP * IMPATIENT * part * weight;
    }

    /// As it is now, at most `longest`.
    pub(crate) fn span(self, longest: Span) -> Span {
        if self.seconds < longest.as_secs_f64() { Span::from_secs_f64(self.seconds) } else { longest }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    const MAX_SPAN: Span = Span::from_secs(10);
    const MIN_SPAN: Span = Span::from_millis(250);

    fn millis(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    /// A queue whose wait is between nothing and nine tenths of the patience found, before which
    /// clients give up as `limit` says.
    fn after(rounds: u32, mut limit: impl FnMut(&mut Rng) -> Span) -> (Span, f64) {
        let (mut patience, mut rng) = (Patience::UNKNOWN, Rng::with_seed(1));
        let mut left = 0.0;
        for round in 0..rounds {
            let wait = patience.span(MAX_SPAN).mul_f64(rng.f64() * 0.9);
            let limit = limit(&mut rng);
            if limit < wait {
                patience.gave_up(limit, MIN_SPAN, MAX_SPAN);
                left += f64::from(u8::from(round >= rounds / 2));
            } else {
                patience.waited(wait, 1.0);
            }
        }
        (patience.span(MAX_SPAN), left / f64::from(rounds / 2))
    }

    #[test]
    fn clients_that_give_up_after_a_second_are_found_out() {
        let (found, left) = after(4000, |_| millis(1000));
        assert!((millis(900)..millis(1400)).contains(&found), "{found:?}");
        assert!((0.005..0.05).contains(&left), "{left}");
        let (soon, _) = after(200, |_| millis(1000));
        assert!(soon < millis(1500), "{soon:?}");
    }

    #[test]
    fn a_few_who_leave_early_do_not_count_and_patience_comes_back() {
        let (found, _) = after(4000, |rng| if rng.f64() < 0.01 { millis(50) } else { MAX_SPAN });
        assert!(found > millis(8000), "{found:?}");
        let mut patience = Patience::UNKNOWN;
        for _ in 0..1000 {
            patience.gave_up(millis(100), MIN_SPAN, MAX_SPAN);
        }
        assert_eq!(patience.span(MAX_SPAN), MIN_SPAN);
        for _ in 0..4000 {
            patience.waited(patience.span(MAX_SPAN), 1.0);
        }
        assert_eq!(patience.span(MAX_SPAN), MAX_SPAN);
        assert_eq!(patience.span(millis(500)), millis(500));
    }

    #[test]
    fn who_need_not_wait_says_nothing() {
        let mut patience = Patience::UNKNOWN;
        patience.gave_up(millis(100), MIN_SPAN, MAX_SPAN);
        let before = patience;
        assert!(!patience.is_tried_by(Span::ZERO) && patience.is_tried_by(MIN_SPAN * 8));
        patience.waited(Span::ZERO, 1.0);
        assert_eq!(patience, before);
    }
}
