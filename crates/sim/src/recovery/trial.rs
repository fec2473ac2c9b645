//! [`RecoveryTrial`]: what becomes of one server after one surge, in several replications.

use serde::Serialize;
use stats::Estimate;

/// What becomes of a server after a surge, in several replications.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecoveryTrial {
    /// Requests over those that the processors can serve, before and after the surge.
    pub load: f64,
    /// How often clients ask again.
    pub retries: u32,
    /// The share of replications in which it recovered.
    pub probability: Estimate,
    /// The median time from the end of the surge until it had, in seconds, those in which it had not counted as longer
    /// than all others; `None` where that is not known because it did not in half of them.
    pub time: Option<Estimate>,
    /// The share that was answered in time before the surge.
    pub in_time_before: f64,
}

impl RecoveryTrial {
    /// Of so long as each replication took, if it recovered.
    pub(super) fn new(load: f64, retries: u32, times: &[Option<f64>], in_time_before: f64) -> Option<Self> {
        let recovered = times.iter().flatten().count() as u64;
        let rising = stats::order::rising(times.iter().map(|time| time.unwrap_or(f64::INFINITY)));
        let time = Estimate::quantile(&rising, 0.5).filter(|time| time.value.is_finite());
        let time = time.map(|time| Estimate { ci: time.ci.filter(|[_, high]| high.is_finite()), ..time });
        let probability = Estimate::share(recovered, times.len() as u64)?;
        Some(Self { load, retries, probability, time, in_time_before })
    }
}
