//! What the policy can be told, its defaults, and what it refuses to be told.

use alloc::vec;
use alloc::vec::Vec;

use units::{ClassId, Ratio, Span};

use crate::admission::Gains;
use crate::error::{ConfigError, MAX_CLASSES, MAX_HELD};
use crate::knobs::Knobs;
use crate::look_ahead::LookAhead;
use crate::window::Window;

/// Everything the policy can be told. [`Config::default`] is premium and basic, enforced.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The classes, most important first. A request that no rule names gets the last one.
    pub classes: Vec<Class>,
    /// Whether refusals are carried out or only counted.
    pub mode: Mode,
    /// What is admitted in overload.
    pub admission: Admission,
    /// The operator's two knobs.
    pub knobs: Knobs,
    /// How many requests are scanned for known important ones before one other is classified.
    pub look_ahead: LookAhead,
    /// How often admission is recomputed (Web2K table 1: 250 ms).
    pub period: Span,
    /// How admission answers to a queue that is off its target.
    pub gains: Gains,
    /// How many requests may be inside the server.
    pub window: Window,
    /// Bounds of the queues and shares.
    pub limits: Limits,
    /// The least time that refused clients are asked to stay away: who is back sooner waits behind those who come for the first time.
    pub retry_after: Span,
    /// Seed of the draws that spread admission over a period.
    pub seed: u64,
}

/// One class of service.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Class {
    /// Scheduling weight; `None` follows [`Knobs::differentiation`].
    pub weight: Option<f64>,
    /// Target length of the class queue in requests; `None` follows [`Knobs::favour`].
    pub target_queue: Option<u32>,
}

/// Whether decisions are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Requests wait and are refused.
    #[default]
    Enforce,
    /// Every request is dispatched as it arrives; what would have happened is only counted.
    Shadow,
}

/// What is admitted in overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Admission {
    /// Sessions, where it is known how long they are and most cannot be finished: what is begun is finished. Inside a
    /// class the session that is nearest to its end goes first, because least of it is left and most would be lost
    /// (Gittins 1979; in overload: Schroeder and Harchol-Balter 2006). New ones wait at the door and begin at the
    /// pace at which they can be finished, the newest first: the oldest is about to give up. Otherwise requests.
    #[default]
    Sessions,
    /// Requests, as many as the queue of their class has room for (Web2K section 3.3).
    Requests,
}

impl Admission {
    /// Its name in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Requests => "requests",
        }
    }
}

impl core::fmt::Display for Admission {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// Bounds in requests. Defaults are those of Web2K table 1 where it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// `n`: arrivals taken over in one cycle.
    pub burst: u32,
    /// Length of the acceptor queue.
    pub acceptor_queue: u32,
    /// Length of each of the two pending queues.
    pub pending_queue: u32,
    /// Length of all class queues together; the important may displace the others.
    pub class_queues: u32,
    /// Length of all discard queues together.
    pub discard_queues: u32,
    /// `D`: periods that a request is held back before it is refused.
    pub discard_periods: u32,
    /// Requests with the server that hold no place, because it does nothing for them: responses that it streams,
    /// uploads that it waits for.
    pub streaming: u32,
    /// The longest wait in each stage.
    pub deadlines: Deadlines,
    /// Share of the acceptor queue's length that one client's requests may hold, all stages
    /// together.
    pub client_share: Ratio,
    /// The part of what a class gets that is for new sessions, whatever those under way ask for.
    pub new_session_share: Ratio,
}

/// The longest wait in each stage, after which the client has most likely given up
/// (Web2K section 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// In the acceptor queue.
    pub acceptor: Span,
    /// In a pending queue.
    pub pending: Span,
    /// In a discard queue.
    pub discard: Span,
    /// In a class queue.
    pub class: Span,
}

impl Deadlines {
    /// The same deadline for every stage.
    pub const fn all(span: Span) -> Self {
        Self { acceptor: span, pending: span, discard: span, class: span }
    }

    pub(crate) fn shortest(&self) -> Span {
        self.acceptor.min(self.pending).min(self.discard).min(self.class)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            burst: 64,
            acceptor_queue: 2048,
            pending_queue: 1500,
            class_queues: 2000,
            discard_queues: 1000,
            discard_periods: 4,
            streaming: 16_384,
            deadlines: Deadlines::all(Span::from_secs(10)),
            client_share: Ratio::ONE,
            new_session_share: Ratio::clamped(0.05),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            classes: vec![Class::default(); 2],
            mode: Mode::default(),
            admission: Admission::default(),
            knobs: Knobs::default(),
            look_ahead: LookAhead::default(),
            period: Span::from_millis(250),
            gains: Gains::default(),
            window: Window::default(),
            limits: Limits::default(),
            retry_after: Span::from_secs(5),
            seed: 1,
        }
    }
}

impl Config {
    /// Most classes.
    pub const MAX_CLASSES: usize = MAX_CLASSES;
    /// Most requests held at once.
    pub const MAX_HELD: u64 = MAX_HELD;

    /// How many requests can be held in all, but for those that hold no place: every queue full, a burst with the
    /// driver for classification, and the server full.
    pub(crate) fn held(&self) -> u64 {
        let limits = &self.limits;
        [limits.acceptor_queue, limits.pending_queue, limits.pending_queue, limits.class_queues]
            .into_iter()
            .chain([
                limits.discard_queues,
                limits.burst,
                self.window.largest(),
                self.window.largest().isqrt() + 1,
            ])
            .map(u64::from)
            .sum()
    }

    /// The least important class.
    pub(crate) fn last_class(&self) -> ClassId {
        ClassId((self.classes.len().saturating_sub(1)) as u8)
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if !(1..=Self::MAX_CLASSES).contains(&self.classes.len()) {
            return Err(ConfigError::Classes(self.classes.len()));
        }
        for (index, class) in self.classes.iter().enumerate() {
            if let Some(weight) = class.weight
                && !(0.001..=1e6).contains(&weight)
            {
                return Err(ConfigError::Weight { class: ClassId(index as u8), weight });
            }
        }
        let limits = &self.limits;
        let deadlines = limits.deadlines;
        for (name, zero) in [
            ("the period", self.period.is_zero()),
            ("the burst", limits.burst == 0),
            ("the acceptor queue", limits.acceptor_queue == 0),
            ("the pending queue", limits.pending_queue == 0),
            ("the bound of the class queues", limits.class_queues == 0),
            ("the look-ahead", self.look_ahead == LookAhead::Fixed(0)),
            ("the deadline in the acceptor queue", deadlines.acceptor.is_zero()),
            ("the deadline in a pending queue", deadlines.pending.is_zero()),
            ("the deadline in a discard queue", deadlines.discard.is_zero()),
            ("the deadline in a class queue", deadlines.class.is_zero()),
            ("a target queue", self.classes.iter().any(|class| class.target_queue == Some(0))),
        ] {
            if zero {
                return Err(ConfigError::Zero(name));
            }
        }
        let all = self.held() + u64::from(self.limits.streaming);
        if all > Self::MAX_HELD {
            return Err(ConfigError::TooMany(all));
        }
        self.gains.check()?;
        self.window.check()
    }
}
