//! [`Outcome`]: what a simulation says.

use serde::Serialize;
use stats::MeanEstimate;

use crate::plan::Plan;

/// What a simulation says, with 95 % confidence intervals: shares, means and quantiles of all
/// replications together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The share of requests that were rejected; each attempt counts where rejected clients come back.
    pub rejected: MeanEstimate,
    /// How many that were.
    pub rejections: u64,
    /// Where they do, or clients give up: the share of requests that were never served in time, however often they came
    /// back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<MeanEstimate>,
    /// Where clients give up: the share of attempts whose client had done so before the answer was there. The server
    /// works on them to their end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<MeanEstimate>,
    /// From arrival to completion, in seconds, of the requests that were served.
    pub latency: LatencyOutcome,
    /// The share of the processors' time in which they worked.
    pub utilization: MeanEstimate,
    /// Requests served per second, those not counted whose client had given up.
    pub throughput: MeanEstimate,
    /// Requests in the server, queue included.
    pub present: MeanEstimate,
    /// Rejected requests, latency and throughput of each class.
    pub classes: Vec<ClassOutcome>,
    /// What was used of each tier behind the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierOutcome>,
    /// What the gate in front of the server did with each of its classes, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<GateClassOutcome>,
    /// How many replications there were; 1 for a long run.
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
    pub mean: MeanEstimate,
    /// The median.
    pub p50: MeanEstimate,
    /// Nine of ten are not above this.
    pub p90: MeanEstimate,
    /// 95 of 100 are not above this.
    pub p95: MeanEstimate,
    /// 99 of 100 are not above this.
    pub p99: MeanEstimate,
    /// 999 of 1000 are not above this.
    pub p999: MeanEstimate,
}

/// What became of a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassOutcome {
    /// Its name.
    pub name: String,
    /// The share of its requests that were rejected.
    pub rejected: MeanEstimate,
    /// Its latencies.
    pub latency: LatencyOutcome,
    /// Its requests served per second.
    pub throughput: MeanEstimate,
}

/// What was used of a tier behind the server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TierOutcome {
    /// Its name.
    pub name: String,
    /// The share of its processors' time in which they worked.
    pub utilization: MeanEstimate,
    /// The share of its threads' time in which they were in use.
    pub threads: MeanEstimate,
    /// Calls that wait for a thread of it.
    pub waiting: MeanEstimate,
}

/// What became of a class of the gate. What is not served yet when a replication ends makes the shares
/// of a little less than 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateClassOutcome {
    /// Its name.
    pub name: String,
    /// The share of its requests that were served.
    pub served: MeanEstimate,
    /// The share that the gate refused.
    pub refused: MeanEstimate,
    /// The share that the gate let pass, and that were rejected because the server's queue was full.
    pub rejected: MeanEstimate,
    /// Where there are slow clients: the share that was not accepted in time, because the gate had no room
    /// for its connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unaccepted: Option<MeanEstimate>,
    /// The share that was turned away in all.
    pub turned_away: MeanEstimate,
    /// Latencies of those served, the wait in the gate included.
    pub latency: LatencyOutcome,
    /// Its requests served per second.
    pub throughput: MeanEstimate,
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
    /// The pilot runs did not come to rest: what was simulated may not be typical.
    Unsettled {
        /// How many requests they had.
        requests: u64,
    },
    /// Somebody ended it before; the intervals say how sure it is.
    Interrupted,
}

/// A share of rejected requests below this need not be known more precisely than this would.
const NEGLIGIBLE: f64 = 0.01;

impl Outcome {
    /// Whether the shares of what is not served, mean latency and its 90th percentile are known to the share that is asked for, and as many
    /// were rejected; `done` is how many times as many requests as a replication has were simulated.
    pub(crate) fn judge(&self, plan: &Plan, done: f64) -> Precision {
        if !plan.ends_early() {
            return Precision::Fixed;
        }
        // What was never seen would take the longest to be known, and is as likely nothing: `rejections` is for that.
        let shares = [Some(self.rejected), self.given_up, self.lost].into_iter().flatten();
        let shares = shares.filter(|share| share.mean > 0.0);
        let shares = shares.map(|share| share.half_width() / share.mean.max(NEGLIGIBLE)).fold(0.0, f64::max);
        let relative = shares.max(self.latency.mean.relative()).max(self.latency.p90.relative());
        // Nothing was served: there is no latency to be known.
        let relative = if relative.is_nan() { 0.0 } else { relative };
        let by_width = plan.precision.map_or(0.0, |wanted| (relative / wanted).powi(2));
        let by_number = plan.rejections.map_or(0.0, |wanted| wanted as f64 / self.rejections.max(1) as f64);
        if by_width <= 1.0 && by_number <= 1.0 {
            return Precision::Reached;
        }
        // Of a rejection that is rare, it is that which is not known.
        let relative = if by_number > 1.0 { self.rejected.relative().clamp(relative, 1.0) } else { relative };
        let replications = (done * by_width.max(by_number)).ceil().max(f64::from(plan.replications));
        let each = self.events as f64 / self.events_per_second / done;
        Precision::Missed { relative, replications: replications as u64, seconds: each * replications }
    }
}

impl Precision {
    /// Whether the outcome may be taken for what was asked for.
    pub fn is_enough(self) -> bool {
        matches!(self, Self::Fixed | Self::Reached)
    }
}
