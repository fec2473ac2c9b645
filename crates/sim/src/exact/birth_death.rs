//! Chains in which the number of requests present is all that matters.

use super::{Method, Solution};
use crate::model::Model;

/// Only open models come here.
fn open_rate(model: &Model) -> f64 {
    model.rate().unwrap_or(0.0)
}

/// Of a chain on 0, 1, .. whose births have one rate: the probabilities, when there are at most `most`.
fn probabilities(births: f64, deaths: impl Fn(usize) -> f64, most: usize) -> Vec<f64> {
    let mut weights = Vec::with_capacity(most + 1);
    let (mut weight, mut sum) = (1.0_f64, 0.0);
    for present in 0..=most {
        if present > 0 {
            weight *= births / deaths(present);
        }
        weights.push(weight);
        sum += weight;
        if weight > 1e200 {
            weights.iter_mut().for_each(|one| *one /= weight);
            (sum, weight) = (sum / weight, 1.0);
        } else if weight < 1e-18 * sum && births < deaths(present + 1) {
            break;
        }
    }
    weights.iter().map(|weight| weight / sum).collect()
}

/// What a chain of at most `most` requests says, of which `serving` processors work when so many are present.
fn solution(model: &Model, method: Method, most: Option<usize>) -> Solution {
    let (rate, demand) = (open_rate(model), model.mean_demand());
    let processors = f64::from(model.processors);
    let serving = |present: usize| (present as f64).min(processors);
    // Without a limit, where the chance of more is below what numbers can tell.
    let end = most.unwrap_or(10_000_000);
    let chances = probabilities(rate, |present| serving(present) / demand, end);
    let rejected = most.and_then(|most| chances.get(most)).copied().unwrap_or(0.0);
    let mean = |value: &dyn Fn(usize) -> f64| -> f64 {
        chances.iter().enumerate().map(|(present, chance)| chance * value(present)).sum()
    };
    let throughput = rate * (1.0 - rejected);
    let present = mean(&|present| present as f64);
    Solution {
        method,
        rejected,
        latency: present / throughput,
        latency_by_class: Vec::new(),
        utilization: mean(&serving) / processors,
        throughput,
        present,
    }
}

/// Processor sharing without a queue. Under processor sharing latency is proportional to what a request needs.
pub(super) fn loss(model: &Model) -> Solution {
    let solution = solution(model, Method::InsensitiveLoss, Some(model.threads as usize));
    proportional(model, solution)
}

/// Processor sharing without a limit.
pub(super) fn sharing(model: &Model) -> Solution {
    let solution = solution(model, Method::InsensitiveSharing, None);
    proportional(model, solution)
}

fn proportional(model: &Model, solution: Solution) -> Solution {
    let each = solution.latency / model.mean_demand();
    Solution { latency_by_class: model.classes.iter().map(|class| class.demand * each).collect(), ..solution }
}

/// First come, first served: threads only hold requests, as the queue does.
pub(super) fn markov(model: &Model) -> Solution {
    let most = model.queue.map(|queue| model.threads as usize + queue as usize);
    let solution = solution(model, Method::Markov, most);
    Solution { latency_by_class: vec![solution.latency], ..solution }
}

/// First come, first served by one processor, without a limit.
pub(super) fn first_come(model: &Model) -> Solution {
    let total: f64 = model.classes.iter().map(|class| class.share).sum();
    let squared_cv = model.service.cv().powi(2);
    let second: f64 = model
        .classes
        .iter()
        .map(|class| class.share / total * class.demand.powi(2) * (1.0 + squared_cv))
        .sum();
    let rate = open_rate(model);
    let load = rate * model.mean_demand();
    let wait = rate * second / (2.0 * (1.0 - load));
    let latency = wait + model.mean_demand();
    Solution {
        method: Method::PollaczekKhinchine,
        rejected: 0.0,
        latency,
        latency_by_class: model.classes.iter().map(|class| wait + class.demand).collect(),
        utilization: load,
        throughput: rate,
        present: latency * rate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::solve;
    use crate::{Discipline, Offered, Service};

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value}, not {expected}");
    }

    #[test]
    fn without_a_queue_at_full_load_one_in_26_is_rejected() {
        let solution = solve(&Model::default()).unwrap();
        assert_eq!(solution.method, Method::InsensitiveLoss);
        near(solution.rejected, 1.0 / 26.0);
        near(solution.utilization, 25.0 / 26.0);
        near(solution.present, 12.5);
    }

    #[test]
    fn textbook_queues() {
        // M/M/1 at 0.8: five times the service time. M/M/2 at 0.8: 1 / (1 - 0.64) times.
        let one = |demand, processors| Model {
            classes: vec![crate::Class::new("all", 1.0, demand)],
            service: Service::Exponential,
            offered: Offered::Load(0.8),
            queue: None,
            discipline: Discipline::FirstCome,
            processors,
            ..Model::default()
        };
        near(solve(&one(0.01, 1)).unwrap().latency, 0.05);
        near(solve(&one(0.01, 2)).unwrap().latency, 0.01 / 0.36);
        // M/D/1 at 0.8: service and 0.8 / (2 * 0.2) of it waiting.
        let constant = Model { service: Service::Constant, ..one(0.01, 1) };
        near(solve(&constant).unwrap().latency, 0.03);
        let sharing = Model { discipline: Discipline::Sharing, threads: 1_000_000, ..one(0.01, 1) };
        near(solve(&sharing).unwrap().latency, 0.05);
        // M/M/1/5 at 2: (1 - 2) 2^5 / (1 - 2^6).
        let full = Model { queue: Some(4), threads: 1, offered: Offered::Load(2.0), ..one(0.01, 1) };
        near(solve(&full).unwrap().rejected, 32.0 / 63.0);
    }
}
