//! [`Windows`]: when to look, so that looking costs no more than it may.
//!
//! Requests that begin in a window are followed to their end. Time is cut into periods, each with one window
//! at a random place, so that no regularity of the load can hide from them or hide in them; what windows have
//! cost makes the periods longer or shorter.

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

/// Windows are at least as long, so that not all of the cost is that of opening them.
const SHORTEST: Span = Span::from_millis(100);
/// And not longer than it takes to see what there is.
const LONGEST: Span = Span::from_millis(1000);
/// Requests that have begun are waited for no longer.
pub(super) const PATIENCE: Span = Span::from_secs(1);
/// The first period, of which nothing is known.
const FIRST: Span = Span::from_millis(500);
/// A server that uses less than this, in processors, is taken to use as much.
const LEAST_BUSY: f64 = 0.1;
/// No period is longer.
const LONGEST_PERIOD: Span = Span::from_secs(60);

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
    /// What a window costs, in seconds, and what has been spent beyond what was allowed.
    cost: Option<f64>,
    debt: f64,
    period_ends: Time,
    opens: Time,
}

impl Windows {
    pub(super) fn new(share: Ratio, seed: u64, now: Time) -> Self {
        let mut windows = Self {
            share: share.as_f64(),
            random: SmallRng::seed_from_u64(seed),
            length: SHORTEST,
            cost: None,
            debt: 0.0,
            period_ends: now,
            opens: now,
        };
        windows.place(now, FIRST);
        windows
    }

    /// When the next window opens.
    pub(super) fn opens(&self) -> Time {
        self.opens
    }

    /// How long it is.
    pub(super) fn length(&self) -> Span {
        self.length
    }

    /// A window has been closed; the server used so many processors of late.
    pub(super) fn closed(&mut self, spent: Spent, busy: f64, now: Time) {
        let spent_in_all = (spent.fixed + spent.open).as_secs_f64();
        let before = self.cost.unwrap_or(spent_in_all);
        let allowed = self.share * busy.max(LEAST_BUSY);
        // Half new, half old: windows differ, and one that differs much is paid for all the same.
        let cost = (before + spent_in_all) / 2.0;
        self.debt = (self.debt + spent_in_all - before).max(-cost);
        self.cost = Some(cost);
        // As much to look as to open and close.
        let rate = spent.open.as_secs_f64() / spent.length.as_secs_f64().max(1e-3);
        let fair = Span::from_secs_f64((spent.fixed.as_secs_f64() / rate.max(1e-6)).min(1.0));
        self.length = fair.clamp(SHORTEST, LONGEST);
        let period = Span::from_secs_f64(((cost + self.debt) / allowed).min(LONGEST_PERIOD.as_secs_f64()));
        self.debt = (self.debt - (period.as_secs_f64() * allowed - cost)).max(0.0);
        let begins = self.period_ends.max(now);
        self.place(begins, period.max(self.length));
    }

    /// Puts a window into the period that begins then.
    fn place(&mut self, begins: Time, period: Span) {
        let room = period.saturating_sub(self.length);
        self.opens = begins + room.mul_f64(self.random.random());
        self.period_ends = begins + period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of a server, each with the cost of `fixed` and `rate` times its length.
    fn watched(share: f64, fixed: f64, rate: f64, busy: f64, windows: usize) -> (f64, f64, Vec<f64>) {
        let mut now = Time::ZERO;
        let mut schedule = Windows::new(Ratio::clamped(share), 7, now);
        let (mut cost, mut places) = (0.0, Vec::new());
        let mut open = 0.0;
        for _ in 0..windows {
            now = schedule.opens();
            places.push(now.as_nanos() as f64 / 1e9);
            let length = schedule.length();
            now += length;
            open += length.as_secs_f64();
            let spent = Spent { fixed: Span::from_secs_f64(fixed), open: length.mul_f64(rate), length };
            cost += (spent.fixed + spent.open).as_secs_f64();
            schedule.closed(spent, busy, now);
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
            assert!((0.007..0.0105).contains(&share), "{share} of the server's time, {duty} open");
        }
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
