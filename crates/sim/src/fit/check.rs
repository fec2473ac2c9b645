//! [`Check`]: what the model says of the requests that it was fitted to, beside what was observed.

use serde::Serialize;
use stats::{Deviations, order};

use super::demands::{FittedNeeds, Sample};
use super::observation::Observation;

/// The fitted requests, fed to the fitted server when they came, beside what was observed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// How many requests were compared: those whose time is known, of those that were fed.
    pub requests: u64,
    /// Figures of their times in the server, in seconds, and shares.
    pub figures: Vec<Figure>,
    /// Whether no figure differs by more than chance.
    pub agrees: bool,
}

/// One figure of both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// `mean`, `p50`, `p90`, `p99`, `throughput` (per second) or `rejected` (a share).
    pub name: &'static str,
    /// As it was observed.
    pub observed: f64,
    /// By the model, in the mean of repetitions with other needs of the same laws.
    pub model: f64,
    /// Between which 99 of 100 repetitions of the observation would be, if it were the model's.
    pub chance: [f64; 2],
    /// Whether what was observed is within, or off by so little that it does not matter.
    pub agrees: bool,
}

const REPEATS: u64 = 12;
/// Other draws than those that needs were found with.
const FIRST_SEED: u64 = 1000;
/// Student's t for 99 % with 11 degrees of freedom.
const STUDENT: f64 = 3.106;
/// What is off by less does not matter.
const SLIGHT: f64 = 0.03;
/// Of requests that are rejected.
const SLIGHT_SHARE: f64 = 0.001;
const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];

impl Check {
    pub(super) fn of(observation: &Observation, sample: &Sample, needs: &FittedNeeds) -> Self {
        let observed: Vec<f64> = sample.known(|index| sample.took[index]).collect();
        let rate = sample.throughput(FIRST_SEED, |index| sample.took[index]);
        let repeats = (FIRST_SEED..FIRST_SEED + REPEATS).map(|seed| {
            let took = sample.replay(needs, seed);
            let known: Vec<f64> = sample.known(|index| Some(took[index])).collect();
            (known, sample.throughput(seed, |index| Some(took[index])))
        });
        let (repeats, rates): (Vec<Vec<f64>>, Vec<f64>) = repeats.unzip();
        let mean = |took: &[f64]| stats::mean(took.iter().copied()).unwrap_or_default();
        let mut figures = vec![Figure::of("mean", mean(&observed), repeats.iter().map(|took| mean(took)))];
        let observed = order::rising(observed);
        let requests = observed.len() as u64;
        let repeats: Vec<Vec<f64>> = repeats.into_iter().map(order::rising).collect();
        for (name, quantile) in QUANTILES {
            let of = |rising: &[f64]| order::nearest_rank(rising, quantile).unwrap_or_default();
            figures.push(Figure::of(name, of(&observed), repeats.iter().map(|rising| of(rising))));
        }
        let worked_on = observation.requests.iter().filter(|request| !request.is_rejected()).count() as f64;
        let all = observation.requests.len() as f64;
        // Nothing is known of a queue that could be full; one that is refused now and then may have other reasons.
        let rejected = Figure::of("rejected", (all - worked_on) / all, [0.0; 2].into_iter());
        figures.push(Figure { agrees: rejected.observed <= SLIGHT_SHARE, ..rejected });
        figures.push(Figure::of("throughput", rate, rates.into_iter()));
        let agrees = figures.iter().all(|figure| figure.agrees);
        Self { requests, figures, agrees }
    }

    /// By how much figures of times differ.
    pub(super) fn misfit(&self) -> f64 {
        let of_times = self.figures.iter().filter(|figure| figure.is_time());
        of_times.map(|figure| apart(figure.observed, figure.model)).sum()
    }

    /// What differs, in words.
    pub(super) fn remark(&self) -> Option<String> {
        let differs: Vec<&str> =
            self.figures.iter().filter(|figure| !figure.agrees).map(|figure| figure.name).collect();
        (!differs.is_empty()).then(|| {
            format!(
                "The model does not show what was observed ({}): its predictions are as wrong. A limit of threads (--threads), more processors (--processors), time spent waiting for something else than a processor, or kinds of requests that cost unlike amounts can be why.",
                differs.join(", ")
            )
        })
    }
}

/// By how much two values differ, relatively; what takes no time by the clock of a log is not infinitely far from what
/// takes some.
pub(super) fn apart(one: f64, other: f64) -> f64 {
    (one.max(f64::MIN_POSITIVE) / other.max(f64::MIN_POSITIVE)).ln().abs().min(3.0)
}

impl Figure {
    /// Whether it is of times in the server.
    pub(super) fn is_time(&self) -> bool {
        !matches!(self.name, "rejected" | "throughput")
    }

    fn of(name: &'static str, observed: f64, repeats: impl Iterator<Item = f64>) -> Self {
        let repeats: Vec<f64> = repeats.collect();
        let deviations = Deviations::of(&repeats);
        let model = deviations.mean();
        // Of one more repetition, around a mean that is known from these.
        let error = (deviations.sample_variance() * (1.0 + (repeats.len() as f64).recip())).sqrt();
        let chance = [model - STUDENT * error, model + STUDENT * error].map(|bound| bound.max(0.0));
        let is_slight = (observed - model).abs() <= SLIGHT * model.max(observed);
        let agrees = is_slight || (chance[0]..=chance[1]).contains(&observed);
        Self { name, observed, model, chance, agrees }
    }
}
