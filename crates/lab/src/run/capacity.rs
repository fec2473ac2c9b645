//! How much the bare server carries: sessions per second in a closed loop, in which the generator
//! makes no pauses.
//!
//! A few sessions at a time, each followed at once by the next, keep the server busy without ever
//! overloading it; what it completes then is what it can complete.

use record::experiment::Capacity;
use record::{RunDirectory, SessionOutcome};
use units::Rate;

use crate::error::Error;

/// Batches for the confidence interval: each several sessions long, enough of them for a spread.
const BATCHES: usize = 6;

/// Student's t, two-sided 95 %, for one degree of freedom less than batches.
const T_95: f64 = 2.571;

/// Estimates the capacity from the run in `directory`, which `name` is called in the experiment.
pub(super) fn estimate(directory: &RunDirectory, name: &str) -> Result<Capacity, Error> {
    let summary = directory.summary()?;
    if !summary.client.valid {
        return Err(Error::NotTheServers(summary.client.why_invalid.join("; ")));
    }
    let window = directory.info()?.window;
    let (mut visits, mut failed) = (Vec::new(), 0);
    for session in directory.sessions()? {
        let session = session?;
        let from = session.started_ns.as_nanos() as f64;
        match session.outcome {
            SessionOutcome::Completed => {
                visits.push((from, from + (session.duration_ns + session.think_ns).as_nanos() as f64));
            }
            SessionOutcome::Censored => {}
            _ => failed += 1,
        }
    }
    if failed > 0 {
        return Err(Error::Capacity(format!(
            "{failed} sessions failed though only a few ran at once; lower capacity.concurrency, or look into the server's log"
        )));
    }
    let [rate, low, high] = batch_means(&visits, window.from_ns as f64, window.to_ns as f64);
    match Rate::per_second(rate) {
        Some(rate) if rate.as_f64() > 0.0 => Ok(Capacity {
            rate: rate.as_f64(),
            ci: [low, high],
            unit: "sessions/s".to_owned(),
            directory: name.to_owned(),
        }),
        _ => Err(Error::Capacity("no session completed; give capacity.duration more time".to_owned())),
    }
}

/// The rate per second and its confidence interval. Each visit counts in a batch by the share of it
/// that lies inside: visits that run abreast would otherwise end abreast and make the count lumpy.
fn batch_means(visits: &[(f64, f64)], from: f64, to: f64) -> [f64; 3] {
    let length = (to - from) / BATCHES as f64;
    let rates: Vec<f64> = (0..BATCHES)
        .map(|batch| {
            let begin = from + length * batch as f64;
            let inside = visits.iter().map(|&(start, end)| {
                let overlap = end.min(begin + length) - start.max(begin);
                if end > start { overlap.max(0.0) / (end - start) } else { 0.0 }
            });
            inside.sum::<f64>() / (length / 1e9)
        })
        .collect();
    let deviations = stats::Deviations::of(&rates);
    let (mean, half) = (deviations.mean(), T_95 * deviations.squared_error().sqrt());
    [mean, (mean - half).max(0.0), mean + half]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_flow_has_its_rate_and_no_spread() {
        // Two abreast, half a second each: four per second, though they end in pairs.
        let visits: Vec<(f64, f64)> =
            (0..40).flat_map(|turn| [(f64::from(turn) * 5e8, f64::from(turn + 1) * 5e8); 2]).collect();
        let [rate, low, high] = batch_means(&visits, 2.1e9, 9.3e9);
        for figure in [rate, low, high] {
            assert!((figure - 4.0).abs() < 1e-9, "{figure}");
        }
    }

    #[test]
    fn an_uneven_flow_has_an_interval_around_its_rate() {
        let visits: Vec<(f64, f64)> = (0..6)
            .flat_map(|second| {
                vec![(f64::from(second) * 1e9, f64::from(second) * 1e9 + 9e8); 3 + second as usize % 2]
            })
            .collect();
        let [rate, low, high] = batch_means(&visits, 0.0, 6e9);
        assert!((rate - 3.5).abs() < 1e-9, "{rate}");
        // Standard deviation of 3 and 4 in turn is sqrt(0.3); over sqrt(6) batches, times t.
        assert!((high - rate - 2.571 * (0.3_f64 / 6.0).sqrt()).abs() < 1e-9, "{high}");
        assert!((rate - low - (high - rate)).abs() < 1e-9);
    }
}
