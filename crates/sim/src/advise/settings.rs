//! [`advise`]: the settings with which a server meets its objectives.

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::error::AdviceError;
use super::objective::Objective;
use super::options::AdviceOptions;
use super::search::LoadSearch;
use super::trial::{AS_MANY, Trial};
use crate::model::Model;
use crate::replications::run;

const THREADS: [u32; 5] = [5, 10, 25, 50, 100];
const QUEUES: [u32; 7] = [0, 10, 25, 50, 100, 250, 1000];

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What is to be achieved; with the paper's limit of rejection where none was stated.
    pub objectives: Vec<String>,
    /// Whether that limit was added.
    pub limit_added: bool,
    /// The model as it is: its own load, threads and queue.
    pub now: Trial,
    /// Each number of threads with each length of queue.
    pub trials: Vec<Trial>,
    /// The one of them that serves most, and of those that serve as many the one with the shortest queue;
    /// `None` when none meets the objectives.
    pub best: Option<Trial>,
    /// How many simulations that took.
    pub simulations: u32,
}

/// Finds the settings with which `model` meets all `objectives`. Before each of them `tell` is given
/// how many have been tried, of how many.
///
/// # Errors
/// When the model cannot be simulated, its load depends on itself, there is no objective, or one is about a
/// class of a gate.
pub fn advise(
    model: &Model,
    objectives: &[Objective],
    options: &AdviceOptions,
    tell: &dyn Fn(usize, usize),
) -> Result<Advice, AdviceError> {
    model.check()?;
    let load = model.load().ok_or(AdviceError::Closed)?;
    if objectives.is_empty() {
        return Err(AdviceError::NoObjective);
    }
    if let Some(objective) = objectives.iter().find(|objective| objective.class().is_some()) {
        return Err(AdviceError::NoGate(objective.to_string()));
    }
    let mut objectives = objectives.to_vec();
    // With short queues any latency can be had by rejecting nearly everything.
    let limit_added = !objectives.iter().any(Objective::is_about_rejection);
    if limit_added {
        let come_back = model.patience.is_some() || model.retries.is_some();
        objectives.push(if come_back {
            Objective::lost_at_most_five_percent()
        } else {
            Objective::rejected_at_most_five_percent()
        });
    }
    let search = LoadSearch::new(model, &objectives, options.plan);
    let mut simulations = 1;
    // The model as it is, whatever its queue.
    let outcome = run(model, &options.plan)?;
    let now = search.trial(model, load, &outcome);
    let or_default = |given: &[u32], known: &[u32], own: Option<u32>| {
        let mut values = if given.is_empty() { [known, own.as_slice()].concat() } else { given.to_vec() };
        values.sort_unstable();
        values.dedup();
        values
    };
    let threads = or_default(&options.threads, &THREADS, Some(model.threads));
    let queues = or_default(&options.queues, &QUEUES, model.queue);
    let all = threads.len() * queues.len();
    let mut trials = Vec::new();
    for threads in threads {
        for queue in &queues {
            tell(trials.len(), all);
            let (trial, took) = search.largest_load(threads, *queue)?;
            trials.push(trial);
            simulations += took;
        }
    }
    let best = best(&trials).cloned();
    let objectives = objectives.iter().map(Objective::to_string).collect();
    Ok(Advice { objectives, limit_added, now, trials, best, simulations })
}

fn best(trials: &[Trial]) -> Option<&Trial> {
    let met = || trials.iter().filter(|trial| trial.met);
    let most = met().map(|trial| trial.throughput.mean).fold(0.0, f64::max);
    met()
        .filter(|trial| trial.throughput.mean >= most * (1.0 - AS_MANY))
        .min_by_key(|trial| (trial.queue, trial.threads))
}
