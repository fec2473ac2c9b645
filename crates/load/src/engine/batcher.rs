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
const MAX_BATCH: u32 = 32;

/// Below this rate the generator has time enough, and a wait of [`LINGER`] would show.
const WORTHWHILE: f64 = 20_000.0;

/// A turn with batches and one without take so long each: long enough for a hundred responses
/// of any server that makes batches worthwhile.
const TURN: Span = Span::from_millis(5);
/// The beginning of a turn, which is still as the turn before was.
const SETTLING: Span = Span::from_millis(1);

/// After so many pairs of turns the median of their ratios is looked at. What else happens on a
/// machine slows some turns down by a fifth, so this may not tell yet ...
const PAIRS: usize = 15;
/// ... but this many do.
const MAX_PAIRS: usize = 60;

/// A batch that costs no more of the rate than this is as good as none.
const NEGLIGIBLE: f64 = 0.03;
/// How long the outcome holds.
const REST: Span = Span::from_secs(5);

#[derive(Debug, Clone)]
pub(crate) struct Batcher {
    /// Requests under way.
    under_way: u32,
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
    /// The least median at which the server may yet be the bottleneck.
    hopeless_below: f64,
    /// When the present turn began, and what has ended since it has settled.
    began: Time,
    settled: Option<Time>,
    requests: u64,
    /// The first turn's rate of the present pair.
    first: Option<f64>,
    /// Each pair's rate with batches over that without.
    ratios: Vec<f64>,
    /// The highest rate without.
    highest: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchVerdict {
    Unknown,
    /// The batch leaves the rate as it is.
    Passed,
    Failed,
}

impl Trial {
    fn of(batch: u32, under_way: u32, now: Time) -> Self {
        // Behind a server with time to spare, each of those under way waits for half a batch once in
        // its round. Half of what that costs lies between such a server and a bottleneck.
        let round = 1.0 + f64::from(batch - 1) / (2.0 * f64::from(under_way));
        Self {
            batch,
            hopeless_below: 1.0 - ((1.0 - round.recip()) / 2.0).max(NEGLIGIBLE),
            began: now,
            settled: None,
            requests: 0,
            first: None,
            ratios: Vec::with_capacity(MAX_PAIRS),
            highest: 0.0,
        }
    }

    /// Whether this turn is one with batches.
    fn batches(&self) -> bool {
        self.first.is_some() == self.ratios.len().is_multiple_of(2)
    }

    fn answered(&mut self, now: Time, requests: u64) -> BatchVerdict {
        let Some(settled) = self.settled else {
            self.settled = (now.since(self.began) >= SETTLING).then_some(now);
            return BatchVerdict::Unknown;
        };
        self.requests += requests;
        let elapsed = now.since(settled);
        if elapsed < TURN {
            return BatchVerdict::Unknown;
        }
        let batches = self.batches();
        let rate = Rate::of(self.requests, elapsed).as_f64();
        (self.began, self.settled, self.requests) = (now, None, 0);
        if !batches {
            self.highest = self.highest.max(rate);
        }
        match self.first.take() {
            None => {
                self.first = Some(rate);
                BatchVerdict::Unknown
            }
            Some(first) => {
                self.ratios.push(if batches { rate / first } else { first / rate });
                self.verdict()
            }
        }
    }

    fn verdict(&self) -> BatchVerdict {
        if !self.ratios.len().is_multiple_of(PAIRS) {
            return BatchVerdict::Unknown;
        }
        let ratios = stats::order::rising(self.ratios.iter().copied());
        let median = stats::order::upper_rank(&ratios, 0.5).unwrap_or(0.0);
        let last = ratios.len() == MAX_PAIRS;
        match median {
            _ if self.highest < WORTHWHILE => BatchVerdict::Failed,
            ratio if ratio >= 1.0 - NEGLIGIBLE => BatchVerdict::Passed,
            ratio if ratio < self.hopeless_below => BatchVerdict::Failed,
            _ if last => BatchVerdict::Passed,
            _ => BatchVerdict::Unknown,
        }
    }
}

impl Batcher {
    /// For so many requests under way.
    pub(crate) fn new(under_way: u32) -> Self {
        Self { under_way, most: (under_way / 2).min(MAX_BATCH), want: 1, state: State::Rest(None) }
    }

    /// So many more requests have ended by `now`; gives what to wait for next. What the kernel
    /// completes says less: without batches the parts of a response come one by one, with them at once.
    pub(crate) fn answered(&mut self, now: Time, requests: u64) -> Batching {
        if self.most <= 1 {
            return Batching::NONE;
        }
        match &mut self.state {
            State::Rest(until) => {
                if now >= *until.get_or_insert(now + TURN) {
                    // A size that lost may do better now; the first to be tried is the largest.
                    let batch = if self.want == 1 { self.most } else { (self.want * 2).min(self.most) };
                    self.state = State::Trial(Trial::of(batch, self.under_way, now));
                }
                Batching::of(self.want)
            }
            State::Trial(trial) => {
                let (batch, slow) = (trial.batch, trial.highest < WORTHWHILE);
                match trial.answered(now, requests) {
                    BatchVerdict::Unknown => return Batching::of(if trial.batches() { batch } else { 1 }),
                    BatchVerdict::Failed if batch >= 4 && !slow => {
                        *trial = Trial::of(batch / 2, self.under_way, now);
                        return Batching::NONE;
                    }
                    BatchVerdict::Failed => self.want = 1,
                    BatchVerdict::Passed => self.want = batch,
                }
                self.state = State::Rest(Some(now + REST));
                Batching::of(self.want)
            }
        }
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
