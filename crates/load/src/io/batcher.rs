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
const TURN: Span = Span::from_millis(5);
/// Each so often. Their medians are compared: what else happens on a machine slows some turns
/// down by more than the difference that is looked for.
const TURNS: usize = 7;

/// A larger batch may seem to lose so much of the rate, which is not known exactly, more as long
/// as nothing has lost yet ...
const TOLERANCE: f64 = 0.02;
const FIRST_TOLERANCE: f64 = 0.04;
/// ... but it is given up when no batches at all give so much more, so many times in a row.
const DIFFERENCE: f64 = 0.025;
const CERTAIN: u32 = 2;

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
    /// How often in a row no batches at all were better.
    doubts: u32,
    trial: Trial,
}

#[derive(Debug, Clone)]
enum Trial {
    /// Nothing is tried before then.
    Rest(Option<Time>),
    /// The two sizes, the present one first, take turns.
    Turns(Turns),
}

#[derive(Debug, Clone)]
struct Turns {
    /// When the present one began, and what has come since.
    began: Time,
    completions: u64,
    /// Completions per second in the turns that are over, of one size and the other.
    rates: Vec<[f64; 2]>,
    /// Of a pair of turns, the first.
    first: Option<f64>,
}

impl Turns {
    fn starting(now: Time) -> Self {
        Self { began: now, completions: 0, rates: Vec::with_capacity(TURNS), first: None }
    }

    /// Gives whether all turns are over.
    fn fetched(&mut self, now: Time, completions: u64) -> bool {
        self.completions += completions;
        let elapsed = now.since(self.began);
        if elapsed >= TURN {
            let rate = Rate::of(self.completions, elapsed).as_f64();
            (self.began, self.completions) = (now, 0);
            match self.first.take() {
                None => self.first = Some(rate),
                Some(first) => self.rates.push([first, rate]),
            }
        }
        self.rates.len() == TURNS
    }

    fn median(&self, which: usize) -> f64 {
        let mut rates: Vec<f64> = self.rates.iter().filter_map(|pair| pair.get(which).copied()).collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }
}

impl Batcher {
    /// For so many requests under way.
    pub(crate) fn new(under_way: u32) -> Self {
        let most = (under_way / 2).min(MOST);
        Self { most, want: 1, rival: 2, settled: false, doubts: 0, trial: Trial::Rest(None) }
    }

    /// So many responses were fetched by `now`; gives what to wait for next.
    pub(crate) fn fetched(&mut self, now: Time, completions: u64) -> Batching {
        if self.most <= 1 {
            return Batching::NONE;
        }
        match &mut self.trial {
            Trial::Rest(until) => {
                if now >= *until.get_or_insert(now + TURN) {
                    self.trial = Trial::Turns(Turns::starting(now));
                }
                Batching::of(self.want)
            }
            Trial::Turns(turns) => {
                if turns.fetched(now, completions) {
                    let (mine, its) = (turns.median(0), turns.median(1));
                    self.decide(now, mine, its);
                    return Batching::of(self.want);
                }
                Batching::of(if turns.first.is_some() { self.rival } else { self.want })
            }
        }
    }

    fn decide(&mut self, now: Time, mine: f64, its: f64) {
        let slow = mine < WORTHWHILE;
        let grows = self.rival > self.want;
        if slow {
            (self.want, self.doubts) = (1, 0);
        } else if grows {
            let tolerance = if self.settled { TOLERANCE } else { FIRST_TOLERANCE };
            let grown = its >= mine * (1.0 - tolerance);
            self.settled |= !grown;
            self.want = if grown { self.rival } else { self.want };
        } else if its > mine * (1.0 + DIFFERENCE) {
            self.doubts += 1;
            if self.doubts == CERTAIN {
                (self.want, self.doubts) = (self.want / 2, 0);
            }
        } else {
            self.doubts = 0;
        }
        // What has just grown is held against no batches at all before it grows on, except at first.
        let goes_up =
            self.want == 1 || (self.want < self.most && self.doubts == 0 && !(grows && self.settled));
        self.rival = if goes_up { (self.want * 2).min(self.most) } else { 1 };
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
        assert!(settled(64, delay) <= 4, "{}", settled(64, delay));
    }

    #[test]
    fn where_there_is_time_nothing_waits() {
        assert_eq!(settled(64, |want| Span::from_micros(60) * u64::from(want)), 1);
    }
}
