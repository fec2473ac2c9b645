//! [`Dispersion`]: how much the number of requests in an interval varies.

use serde::Serialize;
use stats::Deviations;

use super::counts::counts;
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
