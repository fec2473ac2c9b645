//! [`Batcher`]: how many completions are worth waiting for in a closed loop.
//!
//! Fetching responses in batches costs the generator a third less, mostly because a server that
//! is given many requests at once does not have to be woken for each. A client whose response
//! waits for others asks later, however, and where the server has time to spare that lowers the
//! rate. So a batch takes turns with none, for a fraction of a second, and is used only if the
//! rate does not suffer: behind a server that is the bottleneck, a response that waits here would
//! have waited there.

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

/// A turn with batches and one without take so long each: long enough for a hundred responses
/// of any server that makes batches worthwhile.
const TURN: Span = Span::from_millis(5);

/// So many pairs of turns are compared. What else happens on a machine slows some turns down by
/// a fifth; the median of so many is known to some hundredths.
const PAIRS: usize = 21;

/// So much of the rate a batch may cost: less is not told from nothing.
const TOLERANCE: f64 = 0.03;

/// How long the outcome holds.
const REST: Span = Span::from_secs(5);

#[derive(Debug, Clone)]
pub(crate) struct Batcher {
    /// The largest batch that leaves the server enough to do.
    most: u32,
    want: u32,
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    /// Nothing is tried before then, a turn from the first responses at first.
    Rest(Option<Time>),
    Trial(Trial),
}

/// A batch and no batches take turns; who begins changes from pair to pair.
#[derive(Debug, Clone)]
struct Trial {
    batch: u32,
    /// When the present turn began, and what has ended since.
    began: Time,
    requests: u64,
    /// The first turn's rate of the present pair.
    first: Option<f64>,
    /// Each pair's rate with batches over that without.
    ratios: Vec<f64>,
    /// The highest rate without.
    highest: f64,
}

impl Trial {
    fn of(batch: u32, now: Time) -> Self {
        let ratios = Vec::with_capacity(PAIRS);
        Self { batch, began: now, requests: 0, first: None, ratios, highest: 0.0 }
    }

    /// Whether this turn is one with batches.
    fn batches(&self) -> bool {
        self.first.is_some() == self.ratios.len().is_multiple_of(2)
    }

    /// Gives whether all turns are over.
    fn answered(&mut self, now: Time, requests: u64) -> bool {
        self.requests += requests;
        let elapsed = now.since(self.began);
        if elapsed < TURN {
            return false;
        }
        let batches = self.batches();
        let rate = Rate::of(self.requests, elapsed).as_f64();
        (self.began, self.requests) = (now, 0);
        if !batches {
            self.highest = self.highest.max(rate);
        }
        match self.first.take() {
            None => self.first = Some(rate),
            Some(first) => self.ratios.push(if batches { rate / first } else { first / rate }),
        }
        self.ratios.len() == PAIRS
    }

    /// Whether the batch leaves the rate as it is.
    fn passed(&mut self) -> bool {
        self.ratios.sort_by(f64::total_cmp);
        self.ratios.get(PAIRS / 2).is_some_and(|&ratio| ratio >= 1.0 - TOLERANCE)
    }
}

impl Batcher {
    /// For so many requests under way.
    pub(crate) fn new(under_way: u32) -> Self {
        Self { most: (under_way / 2).min(MOST), want: 1, state: State::Rest(None) }
    }

    /// So many more requests have ended by `now`; gives what to wait for next. What the kernel completes
    /// says less: without batches the parts of a response come one by one, with them at once.
    pub(crate) fn answered(&mut self, now: Time, requests: u64) -> Batching {
        if self.most <= 1 {
            return Batching::NONE;
        }
        match &mut self.state {
            State::Rest(until) => {
                if now >= *until.get_or_insert(now + TURN) {
                    // A size that lost may do better now; the first to be tried is the largest.
                    let batch = if self.want == 1 { self.most } else { (self.want * 2).min(self.most) };
                    self.state = State::Trial(Trial::of(batch, now));
                }
                Batching::of(self.want)
            }
            State::Trial(trial) => {
                if trial.answered(now, requests) {
                    self.decide(now);
                    return Batching::of(self.want);
                }
                Batching::of(if trial.batches() { trial.batch } else { 1 })
            }
        }
    }

    fn decide(&mut self, now: Time) {
        let State::Trial(trial) = &mut self.state else { return };
        let worthwhile = trial.highest >= WORTHWHILE;
        if worthwhile && !trial.passed() && trial.batch >= 4 {
            *trial = Trial::of(trial.batch / 2, now);
            return;
        }
        self.want = if worthwhile && trial.passed() { trial.batch } else { 1 };
        self.state = State::Rest(Some(now + REST));
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
            want = batcher.answered(now, u64::from(want)).want;
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
