//! [`Health`]: whether a server gets requests.
//!
//! Two things decide. Checks, if there are any, make a server ill or well. Requests that fail one
//! after the other eject it for a time that doubles with each ejection; when that is over, one
//! request is a trial, and what becomes of it decides. Both follow what Envoy calls outlier
//! detection and others a circuit breaker. What a server answers does not matter here, not even a
//! 503: a server that is overloaded has to get less, which is the window's business, and not
//! nothing, which would overload the others.

use std::cell::Cell;

use units::{Span, Time};

use gate_config::settings::upstream::{Check, Ejection};

/// Whether a server gets requests.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// In a row.
    failures: Cell<u32>,
    ejected: Cell<Option<Ejected>>,
    /// One request at a time finds out whether an ejected server is back.
    on_trial: Cell<bool>,
    /// How long the last ejection was, and when it ended.
    last: Cell<Option<(Span, Time)>>,
    ejections: Cell<u64>,
    ill: Cell<bool>,
    /// Checks in a row that said otherwise.
    streak: Cell<u32>,
    checks: [Cell<u64>; 2],
}

#[derive(Debug, Clone, Copy)]
struct Ejected {
    until: Time,
    length: Span,
}

/// What a server is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Requests.
    Up,
    /// One request, to see.
    Trial,
    /// Nothing for now.
    Down,
}

impl Health {
    #[inline]
    pub(crate) fn standing(&self, now: Time) -> Standing {
        if self.ill.get() {
            return Standing::Down;
        }
        match self.ejected.get() {
            None => Standing::Up,
            Some(ejected) if now < ejected.until || self.on_trial.get() => Standing::Down,
            Some(_) => Standing::Trial,
        }
    }

    /// The name of the standing, for people.
    pub(crate) fn name(&self, now: Time) -> &'static str {
        match (self.ill.get(), self.standing(now)) {
            (true, _) => "ill",
            (_, Standing::Up) => "up",
            (_, Standing::Trial) => "trial",
            (_, Standing::Down) => "ejected",
        }
    }

    /// A request has begun that is the trial, or is over.
    pub(crate) fn try_out(&self, begun: bool) {
        self.on_trial.set(begun);
    }

    /// The server answered a request; gives whether it is back by that.
    #[inline]
    pub(crate) fn succeeded(&self, now: Time) -> bool {
        self.failures.set(0);
        match self.ejected.get() {
            // Before the time is over it is the answer to a request from before the ejection.
            Some(ejected) if now >= ejected.until => {
                self.ejected.set(None);
                self.last.set(Some((ejected.length, now)));
                true
            }
            _ => false,
        }
    }

    /// A request failed. `room` says whether one more server may be ejected. Gives for how long
    /// the server is ejected, if it is now.
    pub(crate) fn failed(&self, now: Time, rules: &Ejection, room: bool) -> Option<Span> {
        let failures = self.failures.get().saturating_add(1);
        self.failures.set(failures);
        let length = match self.ejected.get() {
            // Of requests that were under way when it was ejected.
            Some(ejected) if now < ejected.until => return None,
            Some(ejected) => twice(ejected.length, rules.longest),
            None if failures < rules.failures || !room => return None,
            None => match self.last.get() {
                Some((length, ended)) if now.since(ended) < twice(length, rules.longest) => {
                    twice(length, rules.longest)
                }
                _ => rules.time,
            },
        };
        self.ejected.set(Some(Ejected { until: now + length, length }));
        self.ejections.set(self.ejections.get() + 1);
        Some(length)
    }

    /// A check's result; gives whether it changes anything.
    pub(crate) fn checked(&self, success: bool, rules: &Check) -> bool {
        let count = &self.checks[usize::from(success)];
        count.set(count.get() + 1);
        if success != self.ill.get() {
            self.streak.set(0);
            return false;
        }
        let streak = self.streak.get() + 1;
        self.streak.set(streak);
        if streak < if success { rules.healthy } else { rules.unhealthy } {
            return false;
        }
        self.streak.set(0);
        self.ill.set(!success);
        true
    }

    /// Checks are no longer made.
    pub(crate) fn unchecked(&self) {
        self.ill.set(false);
        self.streak.set(0);
    }

    /// Times it was ejected.
    pub(crate) fn ejections(&self) -> u64 {
        self.ejections.get()
    }

    /// Checks that failed, and that succeeded.
    pub(crate) fn checks(&self) -> [u64; 2] {
        [self.checks[0].get(), self.checks[1].get()]
    }
}

fn twice(length: Span, longest: Span) -> Span {
    (length * 2).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Ratio;

    const RULES: Ejection =
        Ejection { failures: 3, time: Span::from_secs(5), longest: Span::from_secs(12), share: Ratio::ONE };

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    fn ejected() -> Health {
        let health = Health::default();
        for _ in 1..RULES.failures {
            assert_eq!(health.failed(at(0), &RULES, true), None);
        }
        assert_eq!(health.failed(at(0), &RULES, true), Some(RULES.time));
        health
    }

    #[test]
    fn failures_count_only_in_a_row() {
        let health = Health::default();
        for _ in 0..10 {
            assert_eq!(health.failed(at(0), &RULES, true), None);
            assert_eq!(health.failed(at(0), &RULES, true), None);
            health.succeeded(at(0));
        }
        assert_eq!(health.standing(at(0)), Standing::Up);
    }

    #[test]
    fn nobody_is_ejected_without_room() {
        let health = Health::default();
        for _ in 0..10 {
            assert_eq!(health.failed(at(0), &RULES, false), None);
        }
        assert_eq!(health.failed(at(0), &RULES, true), Some(RULES.time));
    }

    #[test]
    fn one_trial_at_a_time_decides() {
        let health = ejected();
        assert_eq!(health.standing(at(4)), Standing::Down);
        assert!(!health.succeeded(at(4)), "an answer from before says nothing");
        assert_eq!(health.standing(at(5)), Standing::Trial);
        health.try_out(true);
        assert_eq!(health.standing(at(5)), Standing::Down);
        health.try_out(false);
        assert!(health.succeeded(at(5)));
        assert_eq!(health.standing(at(5)), Standing::Up);
    }

    #[test]
    fn each_ejection_is_twice_as_long_up_to_the_longest() {
        let health = ejected();
        assert_eq!(health.failed(at(5), &RULES, false), Some(Span::from_secs(10)));
        assert_eq!(health.failed(at(15), &RULES, false), Some(RULES.longest));
        assert!(health.succeeded(at(27)));
        // Soon after it counts on, much later it begins anew.
        for (when, length) in [(28, RULES.longest), (100, RULES.time)] {
            assert_eq!(health.failed(at(when), &RULES, true), None);
            assert_eq!(health.failed(at(when), &RULES, true), None);
            assert_eq!(health.failed(at(when), &RULES, true), Some(length));
            assert!(health.succeeded(at(when + 12)));
        }
    }

    #[test]
    fn checks_change_it_after_a_streak() {
        let rules = Check { healthy: 2, unhealthy: 3, ..Check::default() };
        let health = Health::default();
        let results = [false, false, true, false, false, false, true, false, true, true];
        let changes = results.map(|success| health.checked(success, &rules));
        let expected = [false, false, false, false, false, true, false, false, false, true];
        assert_eq!(changes, expected);
        assert_eq!((health.standing(at(0)), health.checks()), (Standing::Up, [6, 4]));
    }
}
