//! [`Run`]: a verdict.

use serde::Serialize;

/// A verdict.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    pub(super) planted: &'static str,
    pub(super) server: &'static str,
    pub(super) seed: u64,
    /// When, in UTC.
    pub(super) searched: Option<String>,
    /// Nothing where the bottleneck was not found.
    pub(super) found: Option<String>,
    pub(super) confidence: f64,
    /// Per second.
    pub(super) capacity: Option<f64>,
    pub(super) seconds: f64,
    /// Why there is no verdict.
    pub(super) failure: Option<String>,
}
