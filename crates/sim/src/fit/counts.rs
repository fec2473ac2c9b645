//! How many requests come in an interval, and how the times between them vary.

use stats::Deviations;

use super::observation::Observation;

impl Observation {
    /// When requests came from `from` until before `to`.
    pub(super) fn times(&self, from: f64, to: f64) -> Vec<f64> {
        let first = self.requests.partition_point(|request| request.at < from);
        self.requests.iter().skip(first).map(|request| request.at).take_while(|at| *at < to).collect()
    }
}

/// Requests in each interval of a length that is wholly between `from` and `to`.
pub(super) fn counts(times: &[f64], from: f64, to: f64, interval: f64) -> Vec<f64> {
    // What is a whole number of intervals but for a rounding error is that number.
    let intervals = ((to - from) / interval + 1e-9).floor() as usize;
    let mut counts = vec![0.0; intervals];
    for at in times {
        if let Some(count) = counts.get_mut(((at - from) / interval + 1e-9).max(0.0) as usize) {
            *count += 1.0;
        }
    }
    counts
}

/// Standard deviation over mean of the times between two.
pub(super) fn cv_of_gaps(times: &[f64]) -> Option<f64> {
    let gaps = times.windows(2).filter_map(|pair| match pair {
        [one, next] => Some(next - one),
        _ => None,
    });
    let n = times.len().checked_sub(1).filter(|n| *n >= 2)? as f64;
    let mean = (times.last()? - times.first()?) / n;
    (mean > 0.0).then(|| Deviations::around(mean, gaps).cv())
}
