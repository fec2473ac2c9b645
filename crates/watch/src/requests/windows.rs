//! [`Windows`]: when to look, so that looking costs no more than it may.
//!
//! Requests that begin in a window are followed to their end. The time between windows is earned: as the
//! server works, an allowance grows, and the next window opens when it has grown to a random multiple, between
//! none and two, of what a window costs. So no regularity of the load can hide from windows or hide in them,
//! and a server that gets busier is looked at more often at once.

use std::fmt;
use std::str::FromStr;

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use units::{Ratio, Span, Time};

/// What watching requests may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// Anything: every request is followed.
    Unlimited,
    /// At most this share of the processor time that the server uses.
    Share(Ratio),
}

impl Default for Budget {
    /// The share that a watch may cost where its user says nothing else.
    fn default() -> Self {
        Self::Share(Ratio::clamped(0.01))
    }
}

impl FromStr for Budget {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.parse::<Ratio>()) {
            ("none", _) => Ok(Self::Unlimited),
            (_, Ok(share)) if share.as_f64() > 0.0 => Ok(Self::Share(share)),
            _ => Err("a share above nothing, such as 1%, or none for no limit"),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("none"),
            Self::Share(share) => share.fmt(f),
        }
    }
}

/// Windows are at least as long, so that not all of the cost is that of opening them.
pub(super) const MIN_LENGTH: Span = Span::from_millis(50);
/// And not longer: a server that was idle may be busy in the next one.
const MAX_LENGTH: Span = Span::from_millis(200);
/// Requests that have begun are waited for no longer.
pub(super) const FOLLOW_TIMEOUT: Span = Span::from_secs(1);
/// What the first window costs, of which nothing is known.
const FIRST_COST: f64 = 0.5e-3;
/// A server that uses less than this, in processors, is taken to use as much.
const MIN_BUSY: f64 = 0.1;
/// However dear the rest is, requests get this share of the budget.
const MIN_FOR_WINDOWS: f64 = 0.2;
/// A window opens at least so often, however little is earned: of a server that does next to nothing one would hear
/// nothing.
const RAREST: Span = Span::from_secs(5);
/// At the beginning windows follow upon one another until so many have been open.
const AT_ONCE: u32 = 3;
/// When a window opens is thought about again after so long at the latest, if not when the server is found to be
/// busier.
const LATEST: Span = Span::from_secs(1);

/// What a window has cost, in processor time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spent {
    /// To open and to close it.
    pub(super) fixed: Span,
    /// While it was open.
    pub(super) open: Span,
    /// How long it was open, the wait for requests that had begun included.
    pub(super) length: Span,
}

/// The windows' schedule.
#[derive(Debug, Clone)]
pub(super) struct Windows {
    share: f64,
    random: SmallRng,
    length: Span,
    /// What a window costs, in seconds: an average in which newer ones count more.
    cost: Option<f64>,
    /// What has been earned since the last window, less what it cost beyond that average.
    earned: f64,
    earned_to: Time,
    /// In multiples of the cost.
    opens_at: f64,
    /// What is allowed for windows per second, in seconds.
    allowed: f64,
    /// How many there were, and when the last was closed.
    closed: u32,
    closed_at: Time,
}

impl Windows {
    pub(super) fn new(share: Ratio, seed: u64, now: Time) -> Self {
        let mut random = SmallRng::seed_from_u64(seed);
        Self {
            share: share.as_f64(),
            length: MIN_LENGTH,
            cost: None,
            earned: 0.0,
            earned_to: now,
            opens_at: random.random_range(0.0..2.0),
            random,
            allowed: share.as_f64() * MIN_BUSY,
            closed: 0,
            closed_at: now,
        }
    }

    /// The server uses so many processors, and all that is watched besides requests takes so much of one: the
    /// budget is for both.
    pub(super) fn note_busy(&mut self, processors: f64, besides: f64, now: Time) {
        self.earn(now);
        let budget = self.share * processors.max(MIN_BUSY);
        self.allowed = (budget - besides).max(budget * MIN_FOR_WINDOWS);
    }

    /// Whether a window opens now, or when to ask again.
    pub(super) fn opens(&mut self, now: Time) -> Result<(), Time> {
        self.earn(now);
        if self.closed < AT_ONCE || now >= self.closed_at + RAREST {
            return Ok(());
        }
        let missing = self.opens_at * self.cost.unwrap_or(FIRST_COST) - self.earned;
        if missing <= 0.0 {
            return Ok(());
        }
        let wait = Span::from_secs_f64((missing / self.allowed).min(LATEST.as_secs_f64()));
        Err((now + wait.max(Span::from_millis(1))).min(self.closed_at + RAREST))
    }

    /// How long it is.
    pub(super) fn length(&self) -> Span {
        self.length
    }

    /// A window has been closed.
    pub(super) fn closed(&mut self, spent: Spent, now: Time) {
        self.earn(now);
        (self.closed, self.closed_at) = (self.closed.saturating_add(1), now);
        let all = (spent.fixed + spent.open).as_secs_f64();
        let expected = self.opens_at * self.cost.unwrap_or(FIRST_COST);
        // On average, what is earned is what is spent: not for each window, since gaps are random.
        let average = self.cost.map_or(all, |cost| 0.7 * cost + 0.3 * all);
        self.earned -= expected + all - self.cost.unwrap_or(FIRST_COST);
        self.cost = Some(average);
        self.opens_at = self.random.random_range(0.0..2.0);
        // As much to look as to open, to wait for the last requests, and to close.
        let rate = spent.open.as_secs_f64() / spent.length.as_secs_f64().max(1e-3);
        let fair = Span::from_secs_f64((spent.fixed.as_secs_f64() / rate.max(1e-6)).min(1.0));
        let waited = spent.length.saturating_sub(self.length);
        self.length = (fair + waited).clamp(MIN_LENGTH, MAX_LENGTH);
    }

    fn earn(&mut self, now: Time) {
        self.earned += now.since(self.earned_to).as_secs_f64() * self.allowed;
        // What is not spent cannot be saved for long: it would be spent all at once.
        self.earned = self.earned.min(3.0 * self.cost.unwrap_or(FIRST_COST));
        self.earned_to = self.earned_to.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of a server, each with the cost of `fixed` and `rate` times its length.
    fn watched(share: f64, fixed: f64, rate: f64, busy: f64, windows: usize) -> (f64, f64, Vec<f64>) {
        let mut now = Time::ZERO;
        let mut schedule = Windows::new(Ratio::clamped(share), 7, now);
        schedule.note_busy(busy, 0.0, now);
        let (mut cost, mut places) = (0.0, Vec::new());
        let mut open = 0.0;
        for _ in 0..windows {
            while let Err(later) = schedule.opens(now) {
                now = later;
            }
            places.push(now.as_nanos() as f64 / 1e9);
            let length = schedule.length();
            now += length;
            open += length.as_secs_f64();
            let spent = Spent { fixed: Span::from_secs_f64(fixed), open: length.mul_f64(rate), length };
            cost += (spent.fixed + spent.open).as_secs_f64();
            schedule.closed(spent, now);
        }
        let whole = now.as_nanos() as f64 / 1e9;
        (cost / whole / busy, open / whole, places)
    }

    #[test]
    fn the_budget_is_kept_whatever_a_window_costs() {
        for (fixed, rate, busy) in
            [(0.002, 0.05, 1.0), (0.010, 0.2, 2.0), (0.0005, 0.01, 0.5), (0.03, 0.3, 4.0)]
        {
            let (share, duty, _) = watched(0.01, fixed, rate, busy, 300);
            assert!((0.0085..0.0115).contains(&share), "{share} of the server's time, {duty} open");
        }
    }

    #[test]
    fn a_server_that_gets_busier_is_looked_at_more_often() {
        let mut schedule = Windows::new(Ratio::clamped(0.01), 7, Time::ZERO);
        let spent =
            Spent { fixed: Span::from_millis(5), open: Span::from_millis(5), length: Span::from_millis(100) };
        schedule.closed(spent, Time::ZERO);
        schedule.note_busy(2.0, 0.0, Time::ZERO + Span::from_millis(10));
        let mut now = Time::ZERO;
        while let Err(later) = schedule.opens(now) {
            now = later;
        }
        assert!(now < Time::ZERO + Span::from_millis(1100), "{now:?}");
    }

    #[test]
    fn what_goes_on_after_the_last_request_has_begun_is_worth_a_longer_window() {
        let length = |waited| {
            let mut schedule = Windows::new(Ratio::clamped(0.01), 7, Time::ZERO);
            let length = schedule.length() + Span::from_millis(waited);
            // Opening it cost as much as 20 ms of it.
            let spent = Spent { fixed: Span::from_millis(2), open: length.mul_f64(0.1), length };
            schedule.closed(spent, Time::ZERO);
            schedule.length()
        };
        assert_eq!(length(0), MIN_LENGTH);
        assert_eq!(length(80), Span::from_millis(100));
        assert_eq!(length(800), MAX_LENGTH);
    }

    #[test]
    fn what_costs_nothing_is_watched_all_the_time() {
        let (_, duty, _) = watched(0.5, 0.0001, 0.001, 1.0, 100);
        assert!(duty > 0.9, "{duty}");
    }

    /// A load that repeats itself every second is seen at all of its moments.
    #[test]
    fn windows_do_not_keep_step() {
        let (_, _, places) = watched(0.01, 0.002, 0.05, 1.0, 400);
        let mut tenths = [0; 10];
        places.iter().for_each(|at| tenths[(at.fract() * 10.0) as usize] += 1);
        assert!(tenths.iter().all(|count| (15..=70).contains(count)), "{tenths:?}");
    }

    #[test]
    fn budgets_are_read() {
        assert_eq!("none".parse(), Ok(Budget::Unlimited));
        assert_eq!("1%".parse(), Ok(Budget::Share(Ratio::clamped(0.01))));
        for bad in ["0%", "", "all", "101%"] {
            assert!(bad.parse::<Budget>().is_err(), "{bad}");
        }
    }
}
