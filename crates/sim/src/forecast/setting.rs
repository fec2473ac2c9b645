//! [`Setting`]: what one setting of the knobs would do.

use policy::Knobs;
use stats::MeanEstimate;

use super::model::Front;
use crate::sessions::{Replication, Summary};

/// What one setting of the knobs would do. An interval is from where to where a figure of some minutes would be in 95 of 100 cases, by chance
/// and by what is not known of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// How they would be.
    pub knobs: Knobs,
    /// By class.
    pub classes: Vec<ClassForecast>,
    /// Completed sessions per second, of all classes.
    pub throughput: MeanEstimate,
    /// The share of the server's time in which it works.
    pub utilization: MeanEstimate,
}

/// What it would do for a class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassForecast {
    /// Its name.
    pub name: String,
    /// Completed sessions per second.
    pub completed: MeanEstimate,
    /// The share of sessions that are completed.
    pub completion: MeanEstimate,
    /// From a request to its answer, in seconds: median.
    pub p50: MeanEstimate,
    /// 95th percentile.
    pub p95: MeanEstimate,
}

/// A replication, and how many seconds of it count.
pub(super) type Done = (Replication, f64);

/// What was found of one; `None` where it was not simulated.
pub(super) fn setting(front: &Front, knobs: Knobs, done: &[Done]) -> Option<Setting> {
    if done.is_empty() {
        return None;
    }
    let over = |value: &dyn Fn(&Replication, f64) -> f64| {
        predicted(done.iter().map(|(replication, seconds)| value(replication, *seconds)))
    };
    let class = |(class, name): (usize, &String)| {
        let of = |value: fn(&Summary, f64) -> f64| {
            over(&|replication, seconds| {
                replication.classes.get(class).map_or(f64::NAN, |summary| value(summary, seconds))
            })
        };
        ClassForecast {
            name: name.clone(),
            completed: rate(of(|summary, seconds| summary.completed / seconds)),
            completion: share(of(|summary, _| summary.completed / summary.started)),
            p50: time(of(|summary, _| summary.response.p50.ln())),
            p95: time(of(|summary, _| summary.response.p95.ln())),
        }
    };
    Some(Setting {
        knobs,
        classes: front.classes.iter().enumerate().map(class).collect(),
        throughput: rate(over(&|replication, seconds| {
            replication.classes.iter().map(|summary| summary.completed).sum::<f64>() / seconds
        })),
        utilization: share(over(&|replication, _| replication.utilization)),
    })
}

/// Where another replication would be: not where their mean is.
fn predicted(values: impl Iterator<Item = f64>) -> MeanEstimate {
    let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    let of_mean = MeanEstimate::of(values.iter().copied());
    let wider = (values.len() as f64 + 1.0).sqrt();
    let ends = of_mean.ci.map(|end| of_mean.mean + (end - of_mean.mean) * wider);
    MeanEstimate { ci: ends, ..of_mean }
}

/// It is not less than nothing.
fn rate(estimate: MeanEstimate) -> MeanEstimate {
    MeanEstimate { ci: estimate.ci.map(|end| end.max(0.0)), ..estimate }
}

/// Of its logarithm: some times as long is as likely as that part of it, so the mean is the geometric one.
fn time(logarithm: MeanEstimate) -> MeanEstimate {
    MeanEstimate { mean: logarithm.mean.exp(), ci: logarithm.ci.map(f64::exp) }
}

/// It goes up to 1 only.
fn share(estimate: MeanEstimate) -> MeanEstimate {
    MeanEstimate { ci: estimate.ci.map(|end| end.clamp(0.0, 1.0)), ..estimate }
}
