//! [`Overhead`]: what watching has cost.

use serde::Serialize;

/// What watching has cost.
#[derive(Debug, Clone, Serialize)]
pub struct Overhead {
    /// Processors that this process used, and, unless every request was followed, the server and all others
    /// for the programs that follow requests.
    pub cpu: f64,
    /// How long a look takes, at what was due.
    pub sample_cost: record::Quantiles,
    /// The share of the time in which requests were followed from their beginning.
    pub duty: f64,
}
