//! [`Batcher`]: how many completions are worth waiting for in a closed loop.
//!
//! Fetching responses in batches costs the generator a third less, mostly because a server that
//! is given many requests at once does not have to be woken for each. A client whose response
//! waits for others asks later, however, and where the server has time to spare that lowers the
//! rate. So batches are tried against smaller ones, for fractions of a second in turn, and grow
//! only as long as the rate does not suffer: behind a server that is the bottleneck, a response
//! that waits here would have waited there.

use units::{Rate, Span, Time};

/// Completions that are waited for, and how long the first of them may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batching {
    pub(crate) want: u32,
    pub(crate) linger: Span,
}

impl Batching {
    /// Everything is fetched at once, so that schedules are kept and stamps are exact.
    pub(crate) const NONE: Self = Self { want: 1, linger: Span::ZERO };

    const fn of(want: u32) -> Self {
        if want > 1 { Self { want, linger: LINGER } } else { Self::NONE }
    }
}

const LINGER: Span = Span::from_micros(200);
const MOST: u32 = 32;

/// Below this rate the generator has time enough, and a wait of [`LINGER`] would show.
const WORTHWHILE: f64 = 20_000.0;

/// Two sizes take turns of this length.
const TURN: Span = Span::from_millis(8);
const TURNS: u32 = 6;

/// At first a larger batch may seem to lose so much of the rate, which is not known exactly ...
const GROWTH_TOLERANCE: f64 = 0.03;
/// ... but what stays is asked again and again for a difference as small as this.
const DIFFERENCE: f64 = 0.01;

/// How long a size that won is kept without question.
const REST: Span = Span::from_millis(200);

#[derive(Debug, Clone)]
pub(crate) struct Batcher {
    /// The largest batch that leaves the server enough to do.
    most: u32,
    want: u32,
    rival: u32,
    /// Whether some size has lost yet.
    settled: bool,
    trial: Trial,
}

#[derive(Debug, Clone, Copy)]
enum Trial {
    /// Nothing is tried before then.
    Rest(Option<Time>),
    /// So many turns are over; the present one began then.
    Turn { number: u32, began: Time, seen: [Seen; 2] },
}

/// Completions of one of the two sizes.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    completions: u64,
    time: Span,
}

impl Seen {
    fn rate(self) -> f64 {
        Rate::of(self.completions, self.time).as_f64()
    }
}

impl Batcher {
    /// For so many requests under way.
    pub(crate) fn new(under_way: u32) -> Self {
        Self { most: (under_way / 2).min(MOST), want: 1, rival: 2, settled: false, trial: Trial::Rest(None) }
    }

    /// So many responses were fetched by `now`; gives what to wait for next.
    pub(crate) fn fetched(&mut self, now: Time, completions: u64) -> Batching {
        if self.most <= 1 {
            return Batching::NONE;
        }
        match &mut self.trial {
            Trial::Rest(until) => {
                if now >= *until.get_or_insert(now + TURN) {
                    self.trial = Trial::Turn { number: 0, began: now, seen: [Seen::default(); 2] };
                }
                Batching::of(self.want)
            }
            Trial::Turn { number, began, seen } => {
                let [mine, its] = seen;
                let present = if number.is_multiple_of(2) { mine } else { its };
                present.completions += completions;
                let elapsed = now.since(*began);
                if elapsed >= TURN {
                    present.time += elapsed;
                    (*number, *began) = (*number + 1, now);
                }
                let (over, rivals_turn, seen) = (*number >= TURNS, !number.is_multiple_of(2), *seen);
                if over {
                    self.decide(now, seen);
                    return Batching::of(self.want);
                }
                Batching::of(if rivals_turn { self.rival } else { self.want })
            }
        }
    }

    fn decide(&mut self, now: Time, [mine, its]: [Seen; 2]) {
        let grows = self.rival > self.want;
        let (mine, its) = (mine.rate(), its.rate());
        let wins = match (grows, self.settled) {
            (true, false) => its >= mine * (1.0 - GROWTH_TOLERANCE),
            (true, true) => its >= mine * (1.0 - DIFFERENCE),
            (false, _) => its > mine * (1.0 + DIFFERENCE),
        };
        let slow = mine < WORTHWHILE;
        self.settled |= !wins;
        if slow {
            self.want = 1;
        } else if wins {
            self.want = self.rival;
        }
        // What won goes on in its direction, at once as long as nothing has lost yet; what lost is
        // tried the other way round after a while.
        let up = self.want == 1 || (grows == wins && self.want < self.most);
        self.rival = if up { (self.want * 2).min(self.most) } else { self.want / 2 };
        self.trial = Trial::Rest(Some(if self.settled || slow { now + REST } else { now }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs against a server that gives a batch of `want` responses after a time; gives the batch
    /// that was settled on after three seconds.
    fn settled(under_way: u32, batch_time: impl Fn(u32) -> Span) -> u32 {
        let mut batcher = Batcher::new(under_way);
        let (mut now, mut want) = (Time::ZERO, 1);
        while now < Time::ZERO + Span::from_secs(3) {
            now += batch_time(want);
            want = batcher.fetched(now, u64::from(want)).want;
        }
        batcher.want
    }

    #[test]
    fn behind_a_bottleneck_batches_grow() {
        let busy = |want: u32| Span::from_micros(10) * u64::from(want);
        assert_eq!(settled(64, busy), 32);
        assert_eq!(settled(1000, busy), 32);
        assert_eq!(settled(10, busy), 5);
        assert_eq!(settled(1, busy), 1);
        assert_eq!(settled(3, busy), 1);
    }

    #[test]
    fn where_waiting_lowers_the_rate_they_do_not() {
        // 64 clients, each answered after 640 us; those in a batch wait for its last.
        let delay = |want: u32| {
            let cycle = 640.0 + f64::from(want - 1) / 2.0 * 10.0;
            Span::from_nanos((cycle / 64.0 * 1000.0 * f64::from(want)) as u64)
        };
        assert!(settled(64, delay) <= 2, "{}", settled(64, delay));
    }

    #[test]
    fn where_there_is_time_nothing_waits() {
        assert_eq!(settled(64, |want| Span::from_micros(60) * u64::from(want)), 1);
    }
}
