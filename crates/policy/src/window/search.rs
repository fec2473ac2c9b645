//! [`Search`]: looks for the smallest window that keeps the server busy.

use units::{Span, Time};

/// Two sizes are tried in turn, and what one finishes is held against what the other did just
/// before and just after.
///
/// As long as the server has something idle, a larger window finishes more; beyond that the same
/// number, later. So the elasticity of throughput, `d ln X / d ln N`, tells the side: 1 where
/// requests do not meet, 0 where they only wait for each other. (Response time tells the same, by
/// Little's law, but of those that are inside at the end of a trial it is not known yet, and these
/// are the long ones.)
///
/// What requests cost varies, so trials are weighed by how far chance can have moved them, as in a
/// sequential test (Wald 1945): where pages cost alike two or three trials settle it, where one in
/// ten costs a hundred times as much it takes more. Sizes far apart are told from each other
/// sooner than near ones, so the distance is large at first and while the window moves on, and
/// halves whenever it has to turn round.
///
/// A change of the work cannot make it collapse, as it does where response times are held against
/// an old baseline: only trials next to each other in time are compared, so a change is in one
/// comparison or two, no comparison moves the window by itself, and the size before the change is
/// compared with the one after it in both directions.
#[derive(Debug)]
pub(super) struct Search {
    smaller: u32,
    larger: u32,
    min: u32,
    max: u32,
    /// How far the larger is from the smaller, in quarters of the smaller.
    stride: u32,
    is_at_larger: bool,
    direction: Option<Direction>,
    trial: Trial,
    /// The trial before, at the other size.
    before: Option<Sample>,
    /// Logarithm of how much likelier it is that the larger size is worth having than that it is
    /// not.
    evidence: f64,
    /// Squared coefficient of variation of what a request costs, as far as throughput shows it.
    variation: f64,
    /// Length of the longest trial of these two sizes, in requests.
    wanted: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// What a trial says.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Mean number inside.
    inside: f64,
    /// Finished per second.
    rate: f64,
    finished: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Trial {
    began: Time,
    /// When `inside` was last brought up to date.
    changed: Time,
    finished: u32,
    /// How many are to finish in all; 0 while it settles.
    wanted: u32,
    /// Those inside that met the size before.
    old: u32,
    /// How many are to finish until it has settled.
    settled: u32,
    /// Integrals over time, in seconds.
    inside: f64,
    full: f64,
    block_began: Time,
    blocks: Blocks,
}

/// Lengths of equal parts of trials, summed up.
#[derive(Debug, Clone, Copy, Default)]
struct Blocks {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Search {
    /// Shorter trials would measure ticks of the scheduler.
    const SHORTEST: Span = Span::from_millis(50);
    const FEWEST: u32 = 32;
    /// A window that was not filled says nothing about its size.
    const FILLED: f64 = 0.8;
    /// The elasticity at which a larger window begins to be worth its longer response times. The
    /// power of Kleinrock (1979), throughput over response time, is largest at one half, but
    /// leaves a server of random demands a fifth below what it can do; in overload that is what
    /// there is to share out.
    const WORTH: f64 = 0.2;
    /// What decides: odds of 7 to 1. What was decided wrongly is seen and undone.
    const CLEAR: f64 = 2.0;
    /// Most that a single comparison can say.
    const MOST: f64 = 1.0;
    /// Even equal demands do not take equal times.
    const LEAST_VARIATION: f64 = 0.05;
    /// Parts of a trial whose lengths tell how far chance moves it. Single requests would not:
    /// those that share a processor end in bunches, and in an event loop each waits for several.
    const BLOCKS: u32 = 8;
    /// How much the trial just over counts for in what is known of chance.
    const FRESH: f64 = 0.5;
    const FARTHEST: u32 = 4;

    pub(super) fn new(initial: u32, min: u32, max: u32) -> Self {
        let mut search = Self {
            smaller: initial,
            larger: initial,
            min,
            max,
            stride: Self::FARTHEST,
            is_at_larger: false,
            direction: None,
            trial: Trial::default(),
            before: None,
            evidence: 0.0,
            variation: 1.0,
            wanted: 0,
        };
        search.set_larger(initial);
        search
    }

    /// The size that it has come to: the larger of the two that it tries.
    pub(super) fn found(&self) -> u32 {
        self.larger
    }

    /// The size that requests are let in by now.
    pub(super) fn offered(&self) -> u32 {
        if self.is_at_larger { self.larger } else { self.smaller }
    }

    /// Goes on from `size`, with `inside` requests that met another.
    pub(super) fn restart(&mut self, now: Time, size: u32, inside: u32) {
        self.set_larger(size.clamp(self.min, self.max));
        self.evidence = 0.0;
        self.before = None;
        self.begin(now, inside);
    }

    /// Accounts for the time since the last change with `inside` requests in the server.
    pub(super) fn advance(&mut self, now: Time, inside: u32) {
        let seconds = now.since(self.trial.changed).as_secs_f64();
        let is_full = inside >= self.offered();
        let trial = &mut self.trial;
        trial.changed = now;
        trial.inside += seconds * f64::from(inside);
        trial.full += if is_full { seconds } else { 0.0 };
    }

    /// A request that was let in at `dispatched` is done, and `inside` are left.
    pub(super) fn finished(&mut self, now: Time, dispatched: Time, inside: u32) {
        if self.min == self.max {
            return;
        }
        self.trial.finished += 1;
        if self.trial.wanted == 0 {
            self.settle(now, dispatched);
            return;
        }
        let trial = &mut self.trial;
        if trial.finished.is_multiple_of(trial.wanted / Self::BLOCKS) {
            trial.blocks.add(now.since(trial.block_began).as_secs_f64());
            trial.block_began = now;
        }
        let length = now.since(trial.began);
        if trial.finished >= trial.wanted && length >= Self::SHORTEST {
            self.end_trial(now, length, inside);
        }
    }

    /// Requests that met the size before must have gone, and as many again have come and gone:
    /// right after the window was widened more finish than can in the long run, because the short
    /// ones among the newcomers do so at once. The trial itself takes longer than that.
    fn settle(&mut self, now: Time, dispatched: Time) {
        let trial = &mut self.trial;
        trial.old = trial.old.saturating_sub(u32::from(dispatched <= trial.began));
        // A download of an hour is not waited for.
        let most = self.larger.saturating_mul(16).max(128);
        if trial.old > 0 && trial.finished < most {
            trial.settled = 2 * trial.finished;
        } else if trial.finished >= trial.settled {
            let wanted = Self::FEWEST.max(trial.finished.saturating_mul(2)).next_multiple_of(Self::BLOCKS);
            // As long as those of the other size: the mean of few is farther off, and to one side.
            self.wanted = self.wanted.max(wanted);
            self.trial =
                Trial { began: now, changed: now, block_began: now, wanted: self.wanted, ..Trial::default() };
        }
    }

    fn end_trial(&mut self, now: Time, length: Span, inside: u32) {
        let Trial { finished, wanted, full, blocks, inside: area, .. } = self.trial;
        let (seconds, finished) = (length.as_secs_f64(), f64::from(finished));
        if full < Self::FILLED * seconds {
            self.before = None;
            self.begin(now, 0);
            return;
        }
        let variation = blocks.squared_variation() * f64::from(wanted / Self::BLOCKS);
        self.variation += Self::FRESH * (variation.max(Self::LEAST_VARIATION) - self.variation);
        let sample = Sample { inside: area / seconds, rate: finished / seconds, finished };
        match self.before.replace(sample) {
            Some(before) if self.is_at_larger => self.compare(before, sample),
            Some(before) => self.compare(sample, before),
            None => {}
        }
        if self.evidence >= Self::CLEAR {
            self.step(Direction::Up);
        } else if self.evidence <= -Self::CLEAR {
            self.step(Direction::Down);
        } else {
            self.is_at_larger = !self.is_at_larger;
        }
        self.begin(now, inside);
    }

    fn begin(&mut self, now: Time, inside: u32) {
        self.trial = Trial { old: inside, began: now, changed: now, ..Trial::default() };
    }

    /// Weighs two trials: normal errors around an elasticity of 0, or of twice what is worth it.
    fn compare(&mut self, smaller: Sample, larger: Sample) {
        let growth = difference(smaller.inside, larger.inside);
        // Express places on top of the window can make up for the difference.
        if growth <= 0.01 {
            return;
        }
        let elasticity = difference(smaller.rate, larger.rate) / growth;
        let variance = self.variation * (1.0 / smaller.finished + 1.0 / larger.finished) / (growth * growth);
        // Each trial is in two comparisons, with the one before and the one after: half for each.
        let said = (elasticity - Self::WORTH) * 2.0 * Self::WORTH / variance / 2.0;
        self.evidence += said.clamp(-Self::MOST, Self::MOST);
    }

    fn step(&mut self, direction: Direction) {
        let is_at_bound = match direction {
            Direction::Up => self.larger == self.max,
            Direction::Down => self.smaller == self.min,
        };
        let goes_on = self.direction.is_none_or(|last| last == direction) && !is_at_bound;
        self.stride = if goes_on { (self.stride * 2).min(Self::FARTHEST) } else { (self.stride / 2).max(1) };
        self.direction = Some(direction);
        self.evidence = 0.0;
        self.wanted = 0;
        self.before = None;
        match direction {
            Direction::Up if is_at_bound => self.set_larger(self.larger),
            Direction::Up => self.set_smaller(self.larger),
            Direction::Down if is_at_bound => self.set_smaller(self.smaller),
            Direction::Down => self.set_larger(self.smaller),
        }
    }

    /// Tries `size` and the next below; where there is none, the next above.
    fn set_larger(&mut self, size: u32) {
        let below = (u64::from(size) * 4 / u64::from(4 + self.stride)) as u32;
        (self.smaller, self.larger) = (below.min(size.saturating_sub(1)).max(self.min), size);
        self.is_at_larger = true;
        if self.smaller == self.larger {
            self.set_smaller(size);
        }
    }

    /// Tries `size` and the next above.
    fn set_smaller(&mut self, size: u32) {
        let step = (u64::from(size) * u64::from(self.stride) / 4).max(1);
        let above = (u64::from(size) + step).min(u64::from(self.max));
        (self.smaller, self.larger) = (size, above as u32);
        self.is_at_larger = false;
    }
}

impl Blocks {
    fn add(&mut self, length: f64) {
        self.count += 1.0;
        self.sum += length;
        self.squares += length * length;
    }

    /// The squared coefficient of variation.
    fn squared_variation(&self) -> f64 {
        let mean = self.sum / self.count;
        if mean > 0.0 && self.count > 1.0 {
            (self.squares / self.count / (mean * mean) - 1.0) * self.count / (self.count - 1.0)
        } else {
            0.0
        }
    }
}

/// By how much `b` is above `a`, relative to their mean: close to the logarithm of their ratio.
fn difference(a: f64, b: f64) -> f64 {
    if a + b > 0.0 { 2.0 * (b - a) / (a + b) } else { 0.0 }
}
