//! [`Yields`]: what a thread that goes before all ordinary ones leaves to them.
//!
//! Linux does not let ordinary threads starve behind one with a real-time priority: what they lack of a twentieth of
//! each second it gives them in one piece of up to 50 ms (`kernel/sched/deadline.c`, the fair server; before Linux
//! 6.12 it stopped the thread for that long, `kernel.sched_rt_runtime_us`, sched(7)). All arrivals of that time would
//! begin late, and at once. So the thread leaves them more than that itself, in small pieces, where it would only wait for
//! its next arrival. What another real-time thread has on the same processor counts as if ordinary ones had it.

use std::thread;
use std::time::Duration;

use units::{Span, Time};

/// One part in so many is theirs.
const SHARE: i64 = 10;
/// A piece: several switches from one thread to another.
const PIECE: Duration = Duration::from_micros(50);
/// More than this, ns, that they had beforehand does not count, so that they never wait for longer than a quarter of
/// a second ...
const MAX_CREDIT: i64 = 25_000_000;
/// ... nor more that they lack where there was no occasion, so that it is not made up for all at once.
const MAX_DEBT: i64 = 1_000_000;
/// To look at the processor time takes a system call.
const LOOK: Span = Span::from_micros(100);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Yields {
    since: Time,
    /// Processor time that this thread had used by then.
    used: Span,
    /// What others have yet to get, ns; less than nothing where they have got more.
    owed: i64,
}

impl Yields {
    pub(crate) fn new(now: Time, used: Span) -> Self {
        Self { since: now, used, owed: 0 }
    }

    /// Whether it is others' turn, where this thread has used so much processor time.
    pub(crate) fn are_due(&mut self, now: Time, used: impl FnOnce() -> Span) -> bool {
        let elapsed = now.since(self.since);
        if elapsed >= LOOK || self.owed > 0 {
            let used = used();
            let left = nanos(elapsed) - nanos(used.saturating_sub(self.used));
            self.owed = (self.owed + nanos(elapsed) / SHARE - left).clamp(-MAX_CREDIT, MAX_DEBT);
            (self.since, self.used) = (now, used);
        }
        self.owed > 0
    }

    /// Makes one.
    pub(crate) fn make() {
        thread::sleep(PIECE);
    }
}

fn nanos(span: Span) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// The share of two seconds that is left to others where there is an occasion every so many us.
    fn share(every: u64, pause: u64) -> f64 {
        let mut yields = Yields::new(at(0), Span::ZERO);
        let (mut now, mut left) = (0, 0);
        while now < 2_000_000 {
            now += every;
            if yields.are_due(at(now), || Span::from_micros(now - left)) {
                now += pause;
                left += pause;
            }
        }
        left as f64 / now as f64
    }

    #[test]
    fn others_get_a_tenth_in_small_pieces() {
        for (every, pause) in [(20, 20), (50, 10), (100, 1000)] {
            let share = share(every, pause);
            assert!((share - 0.1).abs() < 0.01, "{share} with pieces of {pause} us");
        }
    }

    #[test]
    fn who_has_slept_lately_owes_nothing_but_not_for_long() {
        let mut yields = Yields::new(at(0), Span::ZERO);
        assert!(!yields.are_due(at(5_000_000), || Span::ZERO));
        assert!(!yields.are_due(at(5_200_000), || Span::from_millis(200)));
        assert!(yields.are_due(at(5_300_000), || Span::from_millis(300)));
    }

    #[test]
    fn what_there_was_no_occasion_for_is_not_made_up_for_at_once() {
        let mut yields = Yields::new(at(0), Span::ZERO);
        assert!(yields.are_due(at(1_000_000), || Span::from_secs(1)));
        assert!(!yields.are_due(at(1_002_000), || Span::from_secs(1)));
    }
}
