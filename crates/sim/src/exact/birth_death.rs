//! Chains in which the number of requests present is all that matters.

use super::error::ExactError;
use super::solution::{Method, Solution};
use crate::model::Model;

/// Only open models come here.
fn open_rate(model: &Model) -> f64 {
    model.rate().unwrap_or(0.0)
}

/// Chances below this are nothing beside those of other numbers of requests.
const NOTHING: f64 = 1e-18;

/// Numbers of requests at most: a second's work.
const MAX_LEVELS: f64 = 1e7;

/// A chain on 0, 1, .. of which so many requests are served at a time.
struct Chain {
    /// Arrivals and completions of one request that is served, per second.
    births: f64,
    speed: f64,
    serving: u32,
    most: Option<u64>,
}

impl Chain {
    fn served(&self, present: u64) -> f64 {
        present.min(u64::from(self.serving)) as f64
    }

    /// How many probabilities there are that matter; where as many requests are served as can be, they fall
    /// geometrically.
    fn levels(&self) -> f64 {
        let ratio = self.births / (self.speed * f64::from(self.serving));
        let falling = if ratio < 1.0 { NOTHING.ln() / ratio.ln() } else { f64::INFINITY };
        let all = self.most.map_or(f64::INFINITY, |most| most as f64 + 1.0);
        all.min(f64::from(self.serving) + falling)
    }

    /// The probabilities of 0, 1, .. requests, as far as they matter.
    fn probabilities(&self) -> Result<Vec<f64>, ExactError> {
        let levels = self.levels();
        if levels > MAX_LEVELS {
            return Err(ExactError::TooLarge { levels: levels as u64, states: 1 });
        }
        let mut weights = Vec::new();
        let (mut weight, mut sum) = (1.0_f64, 0.0);
        for present in 0..=self.most.unwrap_or(u64::MAX) {
            if present > 0 {
                weight *= self.births / (self.speed * self.served(present));
            }
            weights.push(weight);
            sum += weight;
            if weight > 1e200 {
                weights.iter_mut().for_each(|one| *one /= weight);
                (sum, weight) = (sum / weight, 1.0);
            } else if weight < NOTHING * sum && self.births < self.speed * self.served(present + 1) {
                break;
            }
        }
        Ok(weights.iter().map(|weight| weight / sum).collect())
    }
}

/// What a chain of at most `most` requests says. Threads and processors both limit how many are served.
fn solution(model: &Model, method: Method, most: Option<u64>) -> Result<Solution, ExactError> {
    let (rate, demand) = (open_rate(model), model.mean_demand());
    let serving = model.threads.min(model.processors);
    let chain = Chain { births: rate, speed: demand.recip(), serving, most };
    let chances = chain.probabilities()?;
    let full = most.and_then(|most| usize::try_from(most).ok());
    let rejected = full.and_then(|most| chances.get(most)).copied().unwrap_or(0.0);
    let mean = |value: &dyn Fn(u64) -> f64| -> f64 {
        (0..).zip(&chances).map(|(present, chance)| chance * value(present)).sum()
    };
    let throughput = rate * (1.0 - rejected);
    let present = mean(&|present| present as f64);
    Ok(Solution {
        method,
        rejected,
        given_up: None,
        lost: None,
        latency: present / throughput,
        latency_by_class: Vec::new(),
        utilization: mean(&|present| chain.served(present)) / f64::from(model.processors),
        throughput,
        present,
    })
}

/// Processor sharing without a queue. Under processor sharing latency is proportional to what a request needs.
pub(super) fn loss(model: &Model) -> Result<Solution, ExactError> {
    let solution = solution(model, Method::InsensitiveLoss, Some(u64::from(model.threads)))?;
    Ok(proportional(model, solution))
}

/// Processor sharing without a limit.
pub(super) fn sharing(model: &Model) -> Result<Solution, ExactError> {
    let solution = solution(model, Method::InsensitiveSharing, None)?;
    Ok(proportional(model, solution))
}

fn proportional(model: &Model, solution: Solution) -> Solution {
    let each = solution.latency / model.mean_demand();
    Solution { latency_by_class: model.classes.iter().map(|class| class.demand * each).collect(), ..solution }
}

/// First come, first served.
pub(super) fn markov(model: &Model) -> Result<Solution, ExactError> {
    let most = model.queue.map(|queue| u64::from(model.threads) + u64::from(queue));
    let solution = solution(model, Method::Markov, most)?;
    Ok(Solution { latency_by_class: vec![solution.latency], ..solution })
}

/// First come, first served by one processor, without a limit.
pub(super) fn first_come(model: &Model) -> Solution {
    let total: f64 = model.classes.iter().map(|class| class.share).sum();
    let second: f64 = model
        .classes
        .iter()
        .map(|class| class.share / total * class.demand.powi(2) * (1.0 + model.law(class).cv().powi(2)))
        .sum();
    let rate = open_rate(model);
    let load = rate * model.mean_demand();
    let wait = rate * second / (2.0 * (1.0 - load));
    let latency = wait + model.mean_demand();
    Solution {
        method: Method::PollaczekKhinchine,
        rejected: 0.0,
        given_up: None,
        lost: None,
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

    #[test]
    fn a_long_queue_costs_what_is_in_it() {
        let long = Model {
            classes: vec![crate::Class::new("all", 1.0, 0.01)],
            service: Service::Exponential,
            offered: Offered::Load(0.9),
            queue: Some(1_000_000_000),
            discipline: Discipline::FirstCome,
            ..Model::default()
        };
        near(solve(&long).unwrap().latency, 0.1);
        let full = Model { offered: Offered::Load(1.1), ..long };
        let Err(why) = solve(&full) else { panic!("a thousand million numbers were computed") };
        assert_eq!(why, ExactError::TooLarge { levels: 1_000_000_026, states: 1 });
    }
}
