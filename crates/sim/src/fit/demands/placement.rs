//! When requests came: as they were logged, or, of whole seconds, somewhere in each.

use rand::Rng;
use rand::seq::SliceRandom;

use super::two_states::TwoStates;
use crate::draw::{Arrivals, Random};
use crate::fit::observation::Observation;

/// A time for each request, in their order. Of whole seconds they are drawn: within each second as the process has them
/// that was fitted to the numbers in longer intervals.
pub(in crate::fit) fn placed(
    observation: &Observation,
    process: &Arrivals,
    rate: f64,
    random: &mut Random,
) -> Vec<f64> {
    let requests = &observation.requests;
    if observation.resolution < 1.0 {
        return requests.iter().map(|request| request.began.unwrap_or(request.at)).collect();
    }
    let second = |at: f64| at.max(0.0).floor() as usize;
    let mut counts = vec![0; requests.last().map_or(0, |last| second(last.at) + 1)];
    for request in requests {
        counts[second(request.at)] += 1;
    }
    let mut within: Vec<Vec<f64>> = match TwoStates::of(process, rate) {
        Some(states) => states.place(&counts, random),
        None => counts.iter().map(|count| (0..*count).map(|_| random.random()).collect()).collect(),
    };
    // Lines are in the order of ends: short requests would come before the long ones of their second.
    within.iter_mut().for_each(|times| times.shuffle(random));
    let mut times: Vec<f64> = within.into_iter().flatten().collect();
    for (time, request) in times.iter_mut().zip(requests) {
        *time += request.at.max(0.0).floor();
    }
    times
}
