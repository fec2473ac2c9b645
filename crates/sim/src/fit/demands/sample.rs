//! [`Sample`]: requests of an observation, as a server is fed with them again.

use rand::SeedableRng;
use rand_distr::Distribution;

use super::fitted::FittedNeeds;
use crate::draw::{Demands as Law, Random, Service, mixed};
use crate::fit::observation::Observation;

/// Requests that the server worked on, in the order of the observation.
#[derive(Debug, Clone)]
pub(in crate::fit) struct Sample {
    /// When they came, in seconds. As often as it was drawn, where only seconds are known.
    pub(super) times: Vec<Vec<f64>>,
    /// Each time, their places in the order in which they came then.
    orders: Vec<Vec<usize>>,
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
        let chosen_times = times.iter().map(|times| chosen.iter().map(|index| times[*index]).collect());
        let times: Vec<Vec<f64>> = chosen_times.collect();
        let order = |times: &Vec<f64>| {
            let mut order: Vec<usize> = (0..times.len()).collect();
            order.sort_by(|one, other| times[*one].total_cmp(&times[*other]));
            order
        };
        Self {
            orders: times.iter().map(order).collect(),
            times,
            classes: chosen.iter().map(|index| u8::from(requests[*index].dynamic)).collect(),
            took: chosen.iter().map(|index| requests[*index].took).collect(),
        }
    }

    /// How long each was in the server, by these needs, drawn from a seed: the same draws for all needs.
    pub(in crate::fit) fn replay(&self, needs: &FittedNeeds, seed: u64) -> Vec<f64> {
        let draw = self.draw(seed);
        let (times, order) = (&self.times[draw], &self.orders[draw]);
        let laws = needs.laws.map(Law::of);
        let need = |index: &usize| {
            let class = usize::from(self.classes[*index]);
            let mut random = Random::seed_from_u64(mixed(seed) ^ *index as u64);
            needs.means[class].unwrap_or_default() * laws[class].sample(&mut random)
        };
        let demands: Vec<f64> = order.iter().map(need).collect();
        let rising: Vec<f64> = order.iter().map(|index| times[*index]).collect();
        let mut took = vec![0.0; times.len()];
        for (index, stay) in order.iter().zip(needs.server.replay(&rising, &demands)) {
            took[*index] = stay + needs.besides;
        }
        took
    }

    /// Values of those whose time is known.
    pub(in crate::fit) fn known(&self, value: impl Fn(usize) -> Option<f64>) -> impl Iterator<Item = f64> {
        (0..self.took.len()).filter(|index| self.took[*index].is_some()).filter_map(value)
    }

    /// Requests served per second, from when the first came until the last was gone, of those whose time is known.
    pub(in crate::fit) fn throughput(&self, seed: u64, took: impl Fn(usize) -> Option<f64>) -> f64 {
        let times = &self.times[self.draw(seed)];
        let spans = self.known(|index| Some(took(index)? + times[index]));
        let (count, last) = spans.fold((0.0, 0.0_f64), |(count, last), end| (count + 1.0, last.max(end)));
        let first = self.known(|index| Some(times[index])).fold(f64::INFINITY, f64::min);
        count / (last - first)
    }

    /// Which of the draws of times goes with a seed.
    fn draw(&self, seed: u64) -> usize {
        seed as usize % self.times.len()
    }

    /// Those of one class.
    pub(super) fn of_class(
        &self,
        class: usize,
        value: impl Fn(usize) -> Option<f64>,
    ) -> impl Iterator<Item = f64> {
        self.known(move |index| value(index).filter(|_| usize::from(self.classes[index]) == class))
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
