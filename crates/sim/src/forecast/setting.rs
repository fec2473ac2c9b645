//! [`Setting`]: what one setting of the knobs would do.

use policy::Knobs;

use super::model::Front;
use super::predicted::Predicted;
use crate::sessions::{Replication, Summary};

/// What one setting of the knobs would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// How they would be.
    pub knobs: Knobs,
    /// By class.
    pub classes: Vec<ClassForecast>,
    /// Completed sessions per second, of all classes.
    pub throughput: Predicted,
    /// The share of the server's time in which it works.
    pub utilization: Predicted,
}

/// What it would do for a class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassForecast {
    /// Its name.
    pub name: String,
    /// Completed sessions per second.
    pub completed: Predicted,
    /// The share of sessions that are completed.
    pub completion: Predicted,
    /// From a request to its answer, in seconds: median.
    pub p50: Predicted,
    /// 95th percentile.
    pub p95: Predicted,
}

/// A replication, and how many seconds of it count.
pub(super) type Done = (Replication, f64);

/// Settings, and what was simulated of each.
type Tried<'a> = &'a [(Knobs, Vec<Done>)];

/// What was found of each; those that were not simulated are left out.
pub(super) fn settings(front: &Front, tried: Tried<'_>) -> Vec<Setting> {
    let throughput = over(tried, |replication, seconds| {
        replication.classes.iter().map(|summary| summary.completed).sum::<f64>() / seconds
    });
    let utilization = over(tried, |replication, _| replication.utilization);
    let mut settings: Vec<Setting> = tried
        .iter()
        .zip(throughput.into_iter().zip(utilization))
        .map(|((knobs, _), (throughput, utilization))| Setting {
            knobs: *knobs,
            classes: Vec::new(),
            throughput: throughput.rate(),
            utilization: utilization.share(),
        })
        .collect();
    for (class, name) in front.classes.iter().enumerate() {
        for (setting, forecast) in settings.iter_mut().zip(forecasts(tried, class, name)) {
            setting.classes.push(forecast);
        }
    }
    let known = settings.into_iter().zip(tried).filter(|(_, (_, done))| !done.is_empty());
    known.map(|(setting, _)| setting).collect()
}

/// What each setting would do for a class.
fn forecasts(tried: Tried<'_>, class: usize, name: &str) -> Vec<ClassForecast> {
    let of = |value: fn(&Summary, f64) -> f64| {
        over(tried, |replication, seconds| {
            replication.classes.get(class).map_or(f64::NAN, |summary| value(summary, seconds))
        })
    };
    let rates = of(|summary, seconds| summary.completed / seconds).into_iter();
    let shares = of(|summary, _| summary.completed / summary.started).into_iter();
    let medians = of(|summary, _| summary.response.p50.ln()).into_iter();
    let tails = of(|summary, _| summary.response.p95.ln()).into_iter();
    rates
        .zip(shares)
        .zip(medians.zip(tails))
        .map(|((completed, completion), (p50, p95))| ClassForecast {
            name: name.to_owned(),
            completed: completed.rate(),
            completion: completion.share(),
            p50: p50.time(),
            p95: p95.time(),
        })
        .collect()
}

/// A figure of each setting.
fn over(tried: Tried<'_>, value: impl Fn(&Replication, f64) -> f64) -> Vec<Predicted> {
    let values = |(_, done): &(Knobs, Vec<Done>)| {
        done.iter().map(|(replication, seconds)| value(replication, *seconds)).collect()
    };
    Predicted::of_all(&tried.iter().map(values).collect::<Vec<Vec<f64>>>())
}
