//! `GET /api/v1/history`, and the event `sample`.

use serde::Deserialize;

/// Samples, oldest first.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct History {
    /// Names of the classes, in the order of [`Sample::classes`].
    #[serde(default)]
    pub(crate) classes: Vec<String>,
    #[serde(default)]
    pub(crate) samples: Vec<Sample>,
}

/// What happened in a second, or in several put together.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Sample {
    /// Unix seconds of its end.
    pub(crate) at: f64,
    /// Its length, s.
    pub(crate) span: f64,
    pub(crate) window: f64,
    pub(crate) in_service: f64,
    pub(crate) waiting: f64,
    /// Requests per second that the servers could do, as far as is known.
    pub(crate) capacity: Option<f64>,
    /// Refused before a class was known, 1/s.
    pub(crate) unclassified: f64,
    pub(crate) pressure: f64,
    pub(crate) classes: Vec<ClassSample>,
}

/// The same of one class; rates are 1/s.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClassSample {
    pub(crate) offered: f64,
    pub(crate) served: f64,
    pub(crate) refused: f64,
    /// Of clients that gave up.
    pub(crate) aborted: f64,
    pub(crate) queued: f64,
    /// Of responses, s.
    pub(crate) p95: Option<f64>,
    pub(crate) waits: Option<Waits>,
}

/// Means of what ended in the sample, s.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Waits {
    pub(crate) acceptor: f64,
    pub(crate) pending: f64,
    pub(crate) discard: f64,
    pub(crate) class: f64,
}

impl Sample {
    /// A sum over its classes.
    pub(crate) fn sum(&self, of: impl Fn(&ClassSample) -> f64) -> f64 {
        self.classes.iter().map(of).sum()
    }
}

impl Waits {
    /// In the gate, not in the server.
    pub(crate) fn in_gate(&self) -> f64 {
        self.acceptor + self.pending + self.discard + self.class
    }
}
