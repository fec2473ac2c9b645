//! [`Trial`]: a setting, and what comes of it.

use serde::Serialize;
use stats::MeanEstimate;

use super::objective::Objective;
use crate::model::Model;
use crate::outcome::Outcome;

/// Settings that serve within so much of one another serve as many.
pub(super) const AS_MANY: f64 = 0.005;

/// A setting, and what comes of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// Requests that are worked on at a time.
    pub threads: u32,
    /// Requests that wait, at most; `None` when there is no limit.
    pub queue: Option<u32>,
    /// Requests per second over those that the processors can serve: the largest found with which all
    /// objectives are met; the smallest that was tried when `met` is false.
    pub load: f64,
    /// Whether larger loads may do as well: it is the largest that was tried.
    pub at_least: bool,
    /// Requests per second.
    pub rate: f64,
    /// Whether the objectives are met there, with 95 % confidence each.
    pub met: bool,
    /// What the objectives are about, in their order: seconds or shares.
    pub figures: Vec<MeanEstimate>,
    /// Requests served per second.
    pub throughput: MeanEstimate,
    /// The share of rejected requests.
    pub rejected: MeanEstimate,
}

impl Trial {
    pub(super) fn new(model: &Model, load: f64, objectives: &[Objective], outcome: &Outcome) -> Self {
        Self {
            threads: model.threads,
            queue: model.queue,
            load,
            at_least: false,
            rate: load * model.all_usable_processors() / model.mean_demand(),
            met: objectives.iter().all(|objective| objective.is_surely_met(outcome)),
            figures: objectives.iter().map(|objective| objective.figure(outcome)).collect(),
            throughput: outcome.throughput,
            rejected: outcome.rejected,
        }
    }
}
