//! [`Sample`]: requests of an observation, as a server is fed with them again.

use rand::SeedableRng;
use rand_distr::Distribution;

use super::fitted::FittedNeeds;
use crate::draw::{Demands as Law, Random, Service, mixed};
use crate::fit::observation::Observation;

/// Requests that the server worked on, in the order in which they came.
#[derive(Debug, Clone)]
pub(in crate::fit) struct Sample {
    /// When they came, in seconds. As often as it was drawn, where only seconds are known.
    pub(super) times: Vec<Vec<f64>>,
    /// 0 of static requests, 1 of dynamic ones.
    pub(super) classes: Vec<u8>,
    /// How long the server had them, where that is known.
    pub(in crate::fit) took: Vec<Option<f64>>,
}

/// More say little more, and take long.
const MOST: usize = 60_000;

impl Sample {
    /// Those in the middle of the observation that were not turned away; `times` are those of all of its requests.
    pub(in crate::fit) fn of(observation: &Observation, times: &[Vec<f64>]) -> Self {
        let requests = &observation.requests;
        let worked_on: Vec<usize> =
            (0..requests.len()).filter(|index| !requests[*index].is_rejected()).collect();
        let from = worked_on.len().saturating_sub(MOST) / 2;
        let chosen = &worked_on[from..(from + MOST).min(worked_on.len())];
        let times = times.iter().map(|times| chosen.iter().map(|index| times[*index]).collect());
        Self {
            times: times.collect(),
            classes: chosen.iter().map(|index| u8::from(requests[*index].dynamic)).collect(),
            took: chosen.iter().map(|index| requests[*index].took).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// How long each was in the server, by these needs, drawn from a seed: the same draws for all needs.
    pub(in crate::fit) fn replay(&self, needs: &FittedNeeds, seed: u64) -> Vec<f64> {
        let mut times = self.times[seed as usize % self.times.len()].clone();
        // Drawn within their seconds they are in order; as they were logged they may not be.
        let mut order: Vec<usize> = (0..times.len()).collect();
        if !times.is_sorted() {
            order.sort_by(|one, other| times[*one].total_cmp(&times[*other]));
            times = order.iter().map(|index| times[*index]).collect();
        }
        let laws = needs.laws.map(Law::of);
        let draw = |index: &usize| {
            let class = usize::from(self.classes[*index]);
            let mut random = Random::seed_from_u64(mixed(seed) ^ *index as u64);
            needs.means[class].unwrap_or_default() * laws[class].sample(&mut random)
        };
        let demands: Vec<f64> = order.iter().map(draw).collect();
        let mut took = vec![0.0; times.len()];
        for (index, stay) in order.into_iter().zip(needs.server.replay(&times, &demands)) {
            took[index] = stay;
        }
        took
    }

    /// Of one class, those whose time is known.
    pub(super) fn of_class<'a>(&'a self, class: usize, took: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let is_known =
            move |index: &usize| usize::from(self.classes[*index]) == class && self.took[*index].is_some();
        (0..self.len()).filter(is_known).map(|index| took[index])
    }

    /// How long they took, where that is known; 0 otherwise, which [`Self::of_class`] leaves out.
    pub(super) fn known(&self) -> Vec<f64> {
        self.took.iter().map(|took| took.unwrap_or_default()).collect()
    }
}

/// Quantiles of a law of mean 1.
pub(super) fn quantiles_of(law: Service, quantiles: [f64; 3]) -> [f64; 3] {
    const DRAWS: usize = 20_000;
    let mut random = Random::seed_from_u64(1);
    let law = Law::of(law);
    let rising = stats::order::rising((0..DRAWS).map(|_| law.sample(&mut random)));
    quantiles.map(|quantile| stats::order::nearest_rank(&rising, quantile).unwrap_or_default())
}
