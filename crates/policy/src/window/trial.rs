//! [`Trial`]: what a server finishes with so many requests inside.

use units::{Span, Time};

/// One size of the window, for as long as it takes to see what the server finishes with it.
///
/// Throughput right after a change is not that of the new size. When the window is widened the
/// short ones among the newcomers finish at once, and the long ones stay: more is finished for a
/// while than the server can do in the long run. So a trial of a larger size begins with the
/// first newcomer and ends when as many are inside as before it: work that the short ones left
/// undone is then done. A trial that nothing follows which would even it out waits until those
/// have gone that met the size before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    size: u32,
    stage: Stage,
    began: Time,
    /// When `inside` was last brought up to date.
    changed: Time,
    finished: u32,
    /// What those cost the server.
    work: f64,
    /// Seconds that they were inside, each as often as its work says.
    took: f64,
    /// How many are to finish in all while it is open.
    wanted: u32,
    /// Integrals over time, in seconds.
    inside: f64,
    full: f64,
    block_began: Time,
    /// [`Self::work`] by then.
    block_work: f64,
    blocks: Blocks,
    /// How long it was open.
    open: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// So many are inside that met the size before.
    Settling { old: u32 },
    /// No more than the size are to be inside.
    Emptying,
    /// So many are inside that were when it began.
    Open { old: u32 },
    /// Nothing is let in until no more than these are inside.
    Closing { to: u32 },
}

/// What a trial says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// How many might be inside.
    pub(super) size: u32,
    /// Mean number inside.
    pub(super) inside: f64,
    /// Work finished per second.
    pub(super) rate: f64,
    /// Squared coefficient of variation of the time for a request's work, as this trial shows it.
    pub(super) variation: f64,
    pub(super) finished: f64,
    pub(super) length: Span,
    /// For how long a request was inside, in seconds; those that cost more count for more.
    pub(super) response: f64,
    /// Whether the window was filled; otherwise it says nothing about its size.
    pub(super) is_full: bool,
}

/// What has come to an end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// As many have finished as were wanted.
    Enough(Sample),
    /// And no more are inside than it was to end with.
    Closed(Sample),
}

/// The time that the work of equal parts of a trial took, for each unit of it.
#[derive(Debug, Clone, Copy, Default)]
struct Blocks {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Trial {
    /// Shorter trials would measure ticks of the scheduler.
    const MIN_LENGTH: Span = Span::from_millis(50);
    const FILLED: f64 = 0.8;
    /// Parts of a trial whose lengths tell how far chance moves it. Single requests would not:
    /// those that share a processor end in bunches, and in an event loop each waits for several.
    const BLOCKS: u32 = 4;

    /// Begins at once.
    pub(super) fn new(now: Time, size: u32, wanted: u32) -> Self {
        Self {
            size,
            stage: Stage::Open { old: size },
            began: now,
            changed: now,
            finished: 0,
            work: 0.0,
            took: 0.0,
            wanted: wanted.next_multiple_of(Self::BLOCKS),
            inside: 0.0,
            full: 0.0,
            block_began: now,
            block_work: 0.0,
            blocks: Blocks::default(),
            open: Span::ZERO,
        }
    }

    /// Begins when the `old` ones have gone that are inside; if they are more than its size, when
    /// they are no more than that.
    pub(super) fn after(now: Time, size: u32, wanted: u32, old: u32) -> Self {
        let stage = if old > size { Stage::Emptying } else { Stage::Settling { old } };
        Self { stage, ..Self::new(now, size, wanted) }
    }

    /// How many may be inside.
    pub(super) fn offered(&self) -> u32 {
        if let Stage::Closing { to } = self.stage { to } else { self.size }
    }

    /// Ends when no more than these are inside.
    pub(super) fn close(&mut self, now: Time, to: u32) {
        self.open = now.since(self.began);
        self.stage = Stage::Closing { to };
    }

    /// Whether it has not begun because too many are inside.
    pub(super) fn is_emptying(&self) -> bool {
        matches!(self.stage, Stage::Emptying)
    }

    /// Since when nothing is let in because too many are inside.
    pub(super) fn empties_since(&self) -> Option<Time> {
        match self.stage {
            Stage::Emptying => Some(self.began),
            Stage::Closing { .. } => Some(self.began + self.open),
            _ => None,
        }
    }

    /// Accounts for the time since the last change with `inside` requests in the server.
    pub(super) fn advance(&mut self, now: Time, inside: u32) {
        let seconds = now.since(self.changed).as_secs_f64();
        self.changed = now;
        self.inside += seconds * f64::from(inside);
        if inside >= self.size && matches!(self.stage, Stage::Open { .. }) {
            self.full += seconds;
        }
    }

    /// A request that was let in at `dispatched` is done, which costs the server that `work`, and `inside` are left.
    pub(super) fn finished(&mut self, now: Time, dispatched: Time, inside: u32, work: f64) -> Option<Step> {
        self.finished += 1;
        self.work += work;
        self.took += work * now.since(dispatched).as_secs_f64();
        // A download of an hour is not waited for.
        let patience = self.size.saturating_mul(16).max(128);
        match &mut self.stage {
            Stage::Settling { old } => {
                *old = old.saturating_sub(u32::from(dispatched <= self.began));
                if *old == 0 || self.finished >= patience {
                    *self = Self::new(now, self.size, self.wanted.max(self.finished));
                }
                None
            }
            Stage::Emptying => {
                if inside <= self.size {
                    *self = Self::new(now, self.size, self.wanted);
                }
                None
            }
            Stage::Open { old } => {
                *old = old.saturating_sub(u32::from(dispatched <= self.began));
                let has_turned = *old == 0 || self.finished >= patience;
                if self.finished.is_multiple_of(self.wanted / Self::BLOCKS) {
                    let work = self.work - self.block_work;
                    if work > 0.0 {
                        self.blocks.add(now.since(self.block_began).as_secs_f64() / work);
                    }
                    (self.block_began, self.block_work) = (now, self.work);
                }
                let length = now.since(self.began);
                let is_enough = has_turned && self.finished >= self.wanted && length >= Self::MIN_LENGTH;
                is_enough.then(|| {
                    self.open = length;
                    Step::Enough(self.sample(length))
                })
            }
            Stage::Closing { to } => {
                (inside <= *to).then(|| Step::Closed(self.sample(now.since(self.began))))
            }
        }
    }

    fn sample(&self, length: Span) -> Sample {
        let seconds = length.as_secs_f64();
        Sample {
            size: self.size,
            inside: self.inside / seconds,
            rate: self.work / seconds,
            variation: self.blocks.squared_variation() * f64::from(self.wanted / Self::BLOCKS),
            finished: f64::from(self.finished),
            length,
            response: if self.work > 0.0 { self.took / self.work } else { 0.0 },
            // Without work there is nothing to compare.
            is_full: self.full >= Self::FILLED * self.open.as_secs_f64() && self.work > 0.0,
        }
    }
}

impl Blocks {
    fn add(&mut self, time: f64) {
        self.count += 1.0;
        self.sum += time;
        self.squares += time * time;
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
