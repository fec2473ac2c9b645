//! [`Foresight`]: who says what other knobs would do to the load of the last minutes, and what came of it.
//!
//! The gate knows what was asked for lately; what follows from it, somebody else computes, who is given at the start.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use policy::{Config, Knobs, SessionLimits};
use schemars::JsonSchema;
use serde::Serialize;
use units::{Span, Time};

use crate::admission::lately::Past;

/// What was asked for in the last minutes, and how the gate decided about it.
#[derive(Debug, Clone)]
pub struct Recent {
    /// The time now, on the clock of the requests.
    pub now: Time,
    /// Since when requests are remembered.
    pub since: Time,
    /// Those that ended since then, in that order.
    pub requests: Vec<Past>,
    /// The names of the classes, most important first.
    pub classes: Vec<String>,
    /// What the policy is told.
    pub policy: Config,
    /// How long session tokens hold.
    pub limits: SessionLimits,
    /// How long refused clients are asked to stay away at most.
    pub longest_retry_after: Span,
    /// Since when operators have changed nothing but classes of sessions.
    pub steady_since: Time,
}

/// What a prediction is of.
#[derive(Debug, Clone)]
pub struct Inquiry {
    /// The load.
    pub recent: Recent,
    /// How the knobs would be, one setting after the other; without any, some over both are chosen, of which one is suggested.
    pub knobs: Vec<Knobs>,
    /// Becomes true when what is known of all of them by then is enough.
    pub enough: Arc<AtomicBool>,
    /// Becomes true when it has to end, with those that are known by then.
    pub stop: Arc<AtomicBool>,
}

/// A figure with its 95 % confidence intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Estimate")]
pub struct Estimated {
    /// The mean.
    pub mean: f64,
    /// From where to where it may be, with what the model is off by where that can be seen.
    pub ci: [f64; 2],
    /// By which the points of one answer are compared: where those of two have something in common, their difference may be chance. What
    /// the model is off by is in all points alike, and so are the users that they meet.
    pub chance: [f64; 2],
}

/// What the load was like that a prediction is of.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Load {
    /// For how long it was seen, in seconds.
    pub seconds: f64,
    /// Requests that were seen.
    pub requests: u64,
    /// Sessions that were seen.
    pub sessions: u64,
    /// By class, most important first.
    pub classes: Vec<ClassLoad>,
}

/// The load of one class.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClassLoad {
    /// Its name.
    pub name: String,
    /// Sessions that begin per second, or would.
    pub starts: f64,
    /// Requests of a session that is completed, mean.
    pub requests: f64,
    /// Between an answer and the next request, mean, in seconds.
    pub pause: f64,
}

/// What one setting of the knobs would do.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// 0 all classes alike to 1 strict priority.
    pub differentiation: f64,
    /// 0 fastest responses to 1 most sessions.
    pub favour: f64,
    /// By class, most important first.
    pub classes: Vec<ClassPoint>,
    /// Completed sessions per second, of all classes.
    pub throughput: Estimated,
    /// The share of the server's time in which it works.
    pub utilization: Estimated,
}

/// What it would do for one class.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClassPoint {
    /// Its name.
    pub name: String,
    /// Completed sessions per second.
    pub completed: Estimated,
    /// The share of sessions that are completed; null where none begins.
    pub completion: Option<Estimated>,
    /// From a request to its answer, in seconds: median; null where none is answered.
    pub p50: Option<Estimated>,
    /// 95th percentile.
    pub p95: Option<Estimated>,
}

/// A setting of the knobs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Place {
    /// 0 all classes alike to 1 strict priority.
    pub differentiation: f64,
    /// 0 fastest responses to 1 most sessions.
    pub favour: f64,
}

/// What settings of the knobs would do.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Foresight")]
pub struct Prediction {
    /// The load that it is of.
    pub load: Load,
    /// In the order in which they were asked for; those for which there was no time are missing.
    pub points: Vec<Point>,
    /// The one of them to take, where no settings were asked for: it serves the first class best, among those that do it completes the most
    /// sessions, and among those it is best for the other classes.
    pub suggested: Option<Place>,
    /// What it cannot know.
    pub remarks: Vec<String>,
    /// How long it took, in seconds.
    pub took: f64,
}

/// What came of the sessions that began in some time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Outcome {
    /// From when on they began, in seconds since 1970.
    pub from: f64,
    /// Until when; those that began later may still be under way.
    pub to: f64,
    /// By class, most important first.
    pub classes: Vec<ClassOutcome>,
}

/// What came of the sessions of one class.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClassOutcome {
    /// Its name.
    pub name: String,
    /// Sessions that began per second, or would have.
    pub starts: f64,
    /// Sessions completed per second.
    pub completed: f64,
    /// The share of them; null where none has ended.
    pub completion: Option<f64>,
    /// How many have ended, of which that is the share.
    pub sessions: u64,
    /// From a request to its answer, in seconds: median; null where none was answered.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
}

/// Says what settings of the knobs would do; an error says why nothing can be said.
type Predict = dyn Fn(&Inquiry) -> Result<Prediction, String> + Send + Sync;
/// Says what came of the sessions that began since then.
type Look = dyn Fn(&Recent, Time) -> Outcome + Send + Sync;

/// Who computes what follows from the load.
#[derive(Clone)]
pub struct Foresight {
    pub(crate) predict: Arc<Predict>,
    pub(crate) look: Arc<Look>,
}

impl fmt::Debug for Foresight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Foresight")
    }
}

impl Foresight {
    /// From two functions that are called on threads of their own.
    pub fn new(
        predict: impl Fn(&Inquiry) -> Result<Prediction, String> + Send + Sync + 'static,
        look: impl Fn(&Recent, Time) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        Self { predict: Arc::new(predict), look: Arc::new(look) }
    }
}
