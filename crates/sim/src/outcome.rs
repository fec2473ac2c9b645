//! [`Outcome`]: what a simulation says.

use serde::Serialize;

use crate::engine::{Seen, Watch};
use crate::model::Model;
use crate::statistics::Estimate;

/// What a simulation says: means over replications with their 95 % confidence intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The share of requests that were rejected.
    pub rejected: Estimate,
    /// From arrival to completion, in seconds, of the requests that were served.
    pub latency: LatencyOutcome,
    /// The share of the processors' time in which they worked.
    pub utilization: Estimate,
    /// Requests served per second.
    pub throughput: Estimate,
    /// Requests in the server, queue included.
    pub present: Estimate,
    /// The same for each class.
    pub classes: Vec<ClassOutcome>,
    /// How many replications there were.
    pub replications: u32,
    /// Arrivals and completions, warm-up included.
    pub events: u64,
    /// Events per second and core.
    pub events_per_second: f64,
    /// Requests at the beginning of each replication that were not counted.
    pub warmup: u64,
    /// Requests in each replication that were.
    pub requests: u64,
    /// What it took, in seconds.
    pub elapsed: f64,
    /// Whether it is as precise as it was to be.
    pub precision: Precision,
}

/// Latencies, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyOutcome {
    /// The mean.
    pub mean: Estimate,
    /// The median.
    pub p50: Estimate,
    /// Nine of ten are not above this.
    pub p90: Estimate,
    /// 99 of 100 are not above this.
    pub p99: Estimate,
}

/// What became of a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassOutcome {
    /// Its name.
    pub name: String,
    /// The share of its requests that were rejected.
    pub rejected: Estimate,
    /// Its latencies.
    pub latency: LatencyOutcome,
    /// Its requests served per second.
    pub throughput: Estimate,
}

/// Whether an outcome is as precise as it was to be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Precision {
    /// Nothing was asked for but a number of replications.
    Fixed,
    /// It is.
    Reached,
    /// It would take about so many replications, and so long.
    Missed {
        /// What was reached: half the widest interval over its mean.
        relative: f64,
        /// How many replications it would take.
        replications: u64,
        /// How long they would take, on one core.
        seconds: f64,
    },
}

/// A share of rejected requests below this need not be known more precisely than this would.
const NEGLIGIBLE: f64 = 0.01;

/// A stretch of a simulation in numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    all: Part,
    utilization: f64,
    present: f64,
    classes: Vec<Part>,
}

/// What became of some of the requests.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    rejected: f64,
    throughput: f64,
    mean: f64,
    p50: f64,
    p90: f64,
    p99: f64,
}

impl Summary {
    pub(crate) fn of(watch: &Watch, model: &Model) -> Self {
        let elapsed = watch.elapsed();
        Self {
            all: Part::of(&watch.total(), elapsed),
            utilization: watch.busy / elapsed / f64::from(model.processors),
            present: watch.present / elapsed,
            classes: watch.classes.iter().map(|seen| Part::of(seen, elapsed)).collect(),
        }
    }
}

impl Part {
    fn of(seen: &Seen, elapsed: f64) -> Self {
        let latencies = &seen.latencies;
        Self {
            rejected: seen.rejected as f64 / seen.arrived as f64,
            throughput: latencies.count() as f64 / elapsed,
            mean: latencies.mean(),
            p50: latencies.quantile(0.5),
            p90: latencies.quantile(0.9),
            p99: latencies.quantile(0.99),
        }
    }
}

impl Outcome {
    /// How `estimate` sees the summaries; how they came about is for the caller to add.
    pub(crate) fn new(model: &Model, summaries: &[Summary], estimate: impl Fn(&[f64]) -> Estimate) -> Self {
        let over =
            |value: &dyn Fn(&Summary) -> f64| estimate(&summaries.iter().map(value).collect::<Vec<f64>>());
        let latency = |part: &dyn Fn(&Summary) -> Part| LatencyOutcome {
            mean: over(&|summary| part(summary).mean),
            p50: over(&|summary| part(summary).p50),
            p90: over(&|summary| part(summary).p90),
            p99: over(&|summary| part(summary).p99),
        };
        let classes = model.classes.iter().enumerate().map(|(index, class)| {
            let part = |summary: &Summary| summary.classes.get(index).copied().unwrap_or(summary.all);
            ClassOutcome {
                name: class.name.clone(),
                rejected: over(&|summary| part(summary).rejected),
                latency: latency(&part),
                throughput: over(&|summary| part(summary).throughput),
            }
        });
        Self {
            rejected: over(&|summary| summary.all.rejected),
            latency: latency(&|summary| summary.all),
            utilization: over(&|summary| summary.utilization),
            throughput: over(&|summary| summary.all.throughput),
            present: over(&|summary| summary.present),
            classes: classes.collect(),
            replications: 0,
            events: 0,
            events_per_second: 0.0,
            warmup: 0,
            requests: 0,
            elapsed: 0.0,
            precision: Precision::Fixed,
        }
    }

    /// Whether the means of rejection, latency and its 90th percentile are known to a share of `wanted`.
    pub(crate) fn judge(&self, wanted: f64, most: u32) -> Precision {
        let rejected = self.rejected.half_width() / self.rejected.mean.max(NEGLIGIBLE);
        let relative = rejected.max(self.latency.mean.relative()).max(self.latency.p90.relative());
        // Nothing was served: there is no latency to be known.
        let relative = if relative.is_nan() { 0.0 } else { relative };
        if relative <= wanted {
            return Precision::Reached;
        }
        let replications = f64::from(self.replications) * (relative / wanted).powi(2);
        let replications = replications.ceil().max(f64::from(most));
        let each = self.events as f64 / self.events_per_second / f64::from(self.replications);
        Precision::Missed { relative, replications: replications as u64, seconds: each * replications }
    }
}
