//! [`Outcome`]: what a simulation says.

use serde::Serialize;

use crate::engine::{Length, Seen};
use crate::model::Model;
use crate::replications::Replication;
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

impl Outcome {
    pub(crate) fn new(model: &Model, done: &[Replication], length: Length) -> Self {
        let totals: Vec<Seen> = done.iter().map(|replication| replication.watch.total()).collect();
        let watches = || done.iter().map(|replication| &replication.watch);
        let over = |value: fn(&Seen) -> f64| {
            Estimate::of(totals.iter().zip(watches()).map(|(seen, watch)| value(seen) / watch.elapsed()))
        };
        let processors = f64::from(model.processors);
        let classes = model.classes.iter().enumerate().map(|(index, class)| {
            let seen = || done.iter().filter_map(|replication| replication.watch.classes.get(index));
            ClassOutcome {
                name: class.name.clone(),
                rejected: Estimate::of(seen().map(rejected)),
                latency: LatencyOutcome::of(seen()),
                throughput: Estimate::of(
                    seen().zip(watches()).map(|(seen, watch)| served(seen) / watch.elapsed()),
                ),
            }
        });
        Self {
            rejected: Estimate::of(totals.iter().map(rejected)),
            latency: LatencyOutcome::of(totals.iter()),
            utilization: Estimate::of(watches().map(|watch| watch.busy / watch.elapsed() / processors)),
            throughput: over(served),
            present: Estimate::of(watches().map(|watch| watch.present / watch.elapsed())),
            classes: classes.collect(),
            replications: done.len() as u32,
            events: done.iter().map(|replication| replication.events).sum(),
            events_per_second: done.iter().map(|replication| replication.events).sum::<u64>() as f64
                / done.iter().map(|replication| replication.took.as_secs_f64()).sum::<f64>(),
            warmup: length.warmup,
            requests: length.requests,
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

impl LatencyOutcome {
    fn of<'a>(seen: impl Iterator<Item = &'a Seen> + Clone) -> Self {
        let quantile = |portion| Estimate::of(seen.clone().map(|seen| seen.latencies.quantile(portion)));
        Self {
            mean: Estimate::of(seen.clone().map(|seen| seen.latencies.mean())),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
        }
    }
}

fn rejected(seen: &Seen) -> f64 {
    seen.rejected as f64 / seen.arrived as f64
}

fn served(seen: &Seen) -> f64 {
    seen.latencies.count() as f64
}
