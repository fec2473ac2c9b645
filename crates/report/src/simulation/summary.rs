//! `summary.json` of a simulation as far as it is shown, read loosely: its shape is the simulator's,
//! and what was not observed is null.

use serde::Deserialize;
use stats::Estimate;

use super::model::OutcomeRow;

#[derive(Debug, Clone, Deserialize)]
pub(super) struct SimulationSummary {
    pub(super) rejected: Observed,
    /// Where clients come back, or give up.
    pub(super) lost: Option<Observed>,
    pub(super) given_up: Option<Observed>,
    pub(super) latency: Latency,
    #[serde(default)]
    pub(super) tiers: Vec<Tier>,
    pub(super) utilization: Observed,
    pub(super) throughput: Observed,
    pub(super) present: Observed,
    pub(super) classes: Vec<Class>,
    pub(super) replications: u64,
    pub(super) events: u64,
    pub(super) warmup: u64,
    pub(super) requests: u64,
    pub(super) precision: Precision,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Tier {
    pub(super) name: String,
    pub(super) utilization: Observed,
    pub(super) threads: Observed,
    pub(super) waiting: Observed,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Class {
    name: String,
    rejected: Observed,
    latency: Latency,
    throughput: Observed,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Latency {
    pub(super) mean: Observed,
    p50: Observed,
    pub(super) p90: Observed,
    p99: Observed,
}

/// A mean and its interval, as far as they are known.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Observed {
    mean: Option<f64>,
    ci: Option<[Option<f64>; 2]>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(super) enum Precision {
    Fixed,
    Reached,
    Missed { relative: f64, replications: u64 },
    Unsettled { requests: u64 },
    Interrupted,
}

impl Observed {
    pub(super) fn estimate(self) -> Option<Estimate> {
        let ci = match self.ci {
            Some([Some(low), Some(high)]) => Some([low, high]),
            _ => None,
        };
        self.mean.map(|value| Estimate { value, ci })
    }
}

impl SimulationSummary {
    /// All requests together, and each class where there are several.
    pub(super) fn rows(&self) -> Vec<OutcomeRow> {
        let all = row("all requests", self.rejected, self.latency, self.throughput);
        let several = self.classes.iter().filter(|_| self.classes.len() > 1);
        let classes = several.map(|class| row(&class.name, class.rejected, class.latency, class.throughput));
        std::iter::once(all).chain(classes).collect()
    }
}

fn row(name: &str, rejected: Observed, latency: Latency, throughput: Observed) -> OutcomeRow {
    OutcomeRow {
        name: name.to_owned(),
        rejected: rejected.estimate(),
        mean: latency.mean.estimate(),
        p50: latency.p50.estimate(),
        p90: latency.p90.estimate(),
        p99: latency.p99.estimate(),
        throughput: throughput.estimate(),
    }
}
