//! [`RecoveryMap`]: what was found.

use serde::Serialize;

use super::trial::RecoveryTrial;

/// Whether a server comes back from a surge, and when.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecoveryMap {
    /// Requests over those that the processors can serve, in the surge.
    pub surge_load: f64,
    /// How long that is, in seconds.
    pub surge_lasts: f64,
    /// How long clients wait, in seconds.
    pub patience: f64,
    /// How long the server had to come back, in seconds.
    pub within: f64,
    /// The share of requests that are answered in time when it has.
    pub share: f64,
    /// For how long at least, in seconds; and for as many requests at least.
    pub lasting: f64,
    /// See [`RecoveryMap::lasting`].
    pub requests: u32,
    /// One for each number of times that clients ask again.
    pub rows: Vec<Row>,
    /// Somebody ended it before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

/// Clients that ask again so often.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// How often.
    pub retries: u32,
    /// At the loads that were asked for.
    pub trials: Vec<RecoveryTrial>,
    /// Up to which load the server recovers; nothing where it was ended before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<Boundary>,
}

/// The boundary of metastable overload: the largest loads at which the server recovers by itself, to a hundredth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Boundary {
    /// With a probability of 0.9.
    pub p90: f64,
    /// Of 0.5.
    pub p50: f64,
    /// Of 0.1.
    pub p10: f64,
}
