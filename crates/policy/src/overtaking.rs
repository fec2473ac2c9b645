//! [`Overtaking`]: which requests idle in the server, waiting for something to happen (long polls: RFC 6202), as
//! those show that overtake them.
//!
//! What takes the server long and what idles in it look alike: no answer comes. But behind what takes it long,
//! others take long too; beside what idles they come and go. So a request counts as idle when it has been inside for
//! long, and many that came later have come and gone in a fraction of that.

use units::{Span, Time};

/// Not before so long: what comes sooner holds up little.
pub(crate) const MIN_INSIDE: Span = Span::from_secs(1);
/// And not before so many others have come and gone.
const MIN_OTHERS: u64 = 16;
/// Nor before so many times as long as each of these took.
const MIN_RATIO: f64 = 20.0;
/// How far one request moves the mean.
const STEP: f64 = 1.0 / 16.0;
/// So much longer than without those that idle others may take. If it is more, some of them work.
const MAX_SLOWDOWN: f64 = 2.0;
/// And lasts for so long: those that have waited for places come at once when there are some, and are slower then.
const MIN_SLOW: Span = Span::from_secs(1);
/// When nothing comes out for longer, nothing can be said of how long it takes.
const MAX_GAP: Span = Span::from_millis(100);

/// A request inside the server, from its dispatch on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inside {
    /// When so many have left the server in all, those have that were inside before it.
    from: u64,
}

/// How requests overtake each other in the server.
#[derive(Debug, Default)]
pub(crate) struct Overtaking {
    left: u64,
    /// How long those were inside that have left lately, in seconds.
    mean: f64,
    /// Requests that idle there without a place.
    idle: u32,
    /// So many may, of kinds that have idled before.
    allowed: u32,
    /// The least that the mean has been since the first of them began to.
    undisturbed: f64,
    /// For how long it has been much more, and when one has left last.
    slow: Span,
    last: Time,
}

impl Overtaking {
    /// A request is dispatched while `others` are inside.
    pub(crate) fn begin(&self, others: u32) -> Inside {
        Inside { from: self.left + u64::from(others) }
    }

    /// One has left that was inside for so long.
    pub(crate) fn end(&mut self, now: Time, took: Span) {
        self.left += 1;
        // One that has waited with a place says nothing of how long the others take.
        let took = took.as_secs_f64().min(4.0 * self.mean + MIN_INSIDE.as_secs_f64() / 4.0);
        self.mean += STEP * (took - self.mean);
        if self.idle == 0 || self.mean < self.undisturbed {
            self.undisturbed = self.mean;
        }
        let passed = now.since(self.last).min(MAX_GAP);
        self.last = now;
        let is_slow = self.mean > MAX_SLOWDOWN * self.undisturbed;
        self.slow = if is_slow { self.slow + passed } else { Span::ZERO };
    }

    /// Whether one idles that has been inside since then and has not been answered.
    pub(crate) fn idles(&self, now: Time, inside: Inside, since: Time) -> bool {
        let age = now.since(since);
        !self.are_slowed_down()
            && age >= MIN_INSIDE
            && age.as_secs_f64() >= MIN_RATIO * self.mean
            && self.left >= inside.from + MIN_OTHERS
    }

    /// Whether another may go without a place from the beginning, its kind being known to idle: beside half as many,
    /// others came and went.
    pub(crate) fn may_idle(&self) -> bool {
        self.idle < self.allowed && !self.are_slowed_down()
    }

    /// One goes on without its place, because it has been overtaken or at once.
    pub(crate) fn release(&mut self, overtaken: bool) {
        self.idle += 1;
        if overtaken {
            self.allowed = 2 * self.idle;
        }
    }

    fn are_slowed_down(&self) -> bool {
        self.idle > 0 && self.slow >= MIN_SLOW
    }

    /// One of those has ended.
    pub(crate) fn over(&mut self) {
        self.idle = self.idle.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Span = Span::from_millis(20);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn who_is_overtaken_by_many_in_a_fraction_of_the_time_idles() {
        let mut overtaking = Overtaking::default();
        let inside = overtaking.begin(3);
        for _ in 0..MIN_OTHERS + 2 {
            overtaking.end(at(0), QUICK);
        }
        assert!(!overtaking.idles(at(5000), inside, at(0)), "three of them may have been before it");
        overtaking.end(at(0), QUICK);
        assert!(overtaking.idles(at(5000), inside, at(0)));
        assert!(!overtaking.idles(at(900), inside, at(0)), "not for long enough");
        for _ in 0..100 {
            overtaking.end(at(0), Span::from_secs(1));
        }
        assert!(!overtaking.idles(at(5000), inside, at(0)), "the others take long, too");
    }

    #[test]
    fn as_many_may_idle_as_do_not_slow_others_down() {
        let mut overtaking = Overtaking::default();
        assert!(!overtaking.may_idle());
        for _ in 0..100 {
            overtaking.end(at(0), QUICK);
        }
        overtaking.release(true);
        overtaking.release(true);
        let mut more = 0;
        while overtaking.may_idle() {
            overtaking.release(false);
            more += 1;
        }
        assert_eq!(more, 2);
        overtaking.over();
        assert!(overtaking.may_idle());
        let inside = overtaking.begin(1);
        for number in 1..=40 {
            overtaking.end(at(50 * number), QUICK * 3);
        }
        assert!(!overtaking.may_idle());
        assert!(!overtaking.idles(at(60_000), inside, at(0)), "nor those that are overtaken");
    }
}
