//! How many requests come in an interval, and how much that varies.

use serde::Serialize;
use stats::Deviations;

use super::observation::Observation;
use super::windows::Window;

/// The index of dispersion for counts: variance over mean of the number of requests in intervals of one length
/// (Gusella, "Characterizing the variability of arrival processes with indexes of dispersion",
/// 1991). It is 1 at all lengths for Poisson arrivals; for times between arrivals that are independent of one
/// another it goes to the square of their coefficient of variation; where it goes on growing,
/// there are busy times and quiet ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Dispersion {
    /// The length of the intervals, in seconds.
    pub interval: f64,
    /// Variance over mean.
    pub index: f64,
    /// How many intervals there were.
    pub intervals: u64,
}

impl Dispersion {
    /// The relative standard error, as if the counts were independent and nearly normal.
    pub(super) fn error(self) -> f64 {
        (2.0 / self.intervals.max(1) as f64).sqrt()
    }
}

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

/// The index of dispersion in intervals of a length, each window around its own mean; `None` when there are
/// fewer than two intervals in each.
pub(super) fn dispersion(
    observation: &Observation,
    windows: &[&Window],
    interval: f64,
) -> Option<Dispersion> {
    let (mut sum, mut freedom, mut intervals) = (0.0, 0.0, 0);
    for window in windows {
        let counts = counts(&observation.times(window.from, window.to), window.from, window.to, interval);
        let deviations = Deviations::of(&counts);
        if counts.len() < 2 || deviations.mean() <= 0.0 {
            continue;
        }
        sum += deviations.squares() / deviations.mean();
        freedom += deviations.freedom();
        intervals += counts.len() as u64;
    }
    (freedom > 0.0).then(|| Dispersion { interval, index: sum / freedom, intervals })
}

/// The third central moment of counts, over all windows.
pub(super) fn third_moment(observation: &Observation, windows: &[&Window], interval: f64) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for window in windows {
        let counts = counts(&observation.times(window.from, window.to), window.from, window.to, interval);
        let mean = stats::mean(counts.iter().copied()).unwrap_or(0.0);
        sum += counts.iter().map(|count| (count - mean).powi(3)).sum::<f64>();
        n += counts.len() as f64;
    }
    sum / n
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
