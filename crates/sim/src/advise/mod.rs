//! [`advise`]: the load to admit, the length of the queue and the number of threads with which a server
//! meets its objectives.
//!
//! The paper's advice is to satisfy "95 % or less of the maximum number of requests" (section 4);
//! here that number comes from simulating the server in question. All settings meet the same
//! requests, so that they differ by what they are and not by chance. Where a gate stands before the server
//! and the load is what it is, [`advise_knobs`] finds where to put the gate's knobs.

mod knobs;
mod objective;
mod search;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;
use stats::MeanEstimate;

pub use self::knobs::{KnobAdvice, KnobOptions, KnobTrial, advise_knobs};
pub use self::objective::{Objective, ObjectiveError};
use crate::model::{Model, ModelError};
use crate::outcome::Outcome;
use crate::replications::{Plan, run};
use crate::sessions::SessionModelError;

/// What to try.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceOptions {
    /// Numbers of threads; those of [`AdviceOptions::default`] and the model's when it is empty.
    pub threads: Vec<u32>,
    /// Lengths of the queue; likewise.
    pub queues: Vec<u32>,
    /// How much to simulate of each setting.
    pub plan: Plan,
}

impl Default for AdviceOptions {
    fn default() -> Self {
        Self {
            threads: Vec::new(),
            queues: Vec::new(),
            plan: Plan { requests: 50_000, replications: 16, precision: None, ..Plan::default() },
        }
    }
}

const THREADS: [u32; 5] = [5, 10, 25, 50, 100];
const QUEUES: [u32; 7] = [0, 10, 25, 50, 100, 250, 1000];

/// A setting, and what comes of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// Requests that are worked on at a time.
    pub threads: u32,
    /// Requests that wait, at most; `None` is no limit.
    pub queue: Option<u32>,
    /// Requests per second over those that the processors can serve: the largest found with which all
    /// objectives are met; the smallest that was tried when `met` is false.
    pub load: f64,
    /// Whether larger loads may do as well: it is the largest that was tried.
    pub at_least: bool,
    /// Requests per second.
    pub rate: f64,
    /// Whether the objectives are met there, with 95 % confidence each.
    pub met: bool,
    /// What the objectives are about, in their order: seconds or shares.
    pub figures: Vec<MeanEstimate>,
    /// Requests served per second.
    pub throughput: MeanEstimate,
    /// The share of rejected requests.
    pub rejected: MeanEstimate,
}

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

/// Why there is no advice.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AdviceError {
    /// The model cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model with its gate cannot be simulated.
    #[error(transparent)]
    Gate(#[from] SessionModelError),
    /// An objective is about a class of a gate, and there is none.
    #[error(
        "the objective \"{0}\" is about a class of a gate, and there is no gate; give its configuration with --policy, or leave out the class"
    )]
    NoGate(String),
    /// An objective is about a class that the gate has not.
    #[error("an objective is about the class \"{class}\", which the gate has not; its classes: {known}")]
    UnknownClass {
        /// What it says.
        class: String,
        /// What it could say.
        known: String,
    },
    /// An objective is about a class that no request is of.
    #[error(
        "an objective is about the class \"{0}\", and no request is of that class; give the gate a rule for it, or, where it is the first class, --premium"
    )]
    EmptyClass(String),
    /// Nothing is to be achieved.
    #[error("there is no objective; state one, such as p90<1s")]
    NoObjective,
    /// Its load cannot be chosen.
    #[error(
        "the model's clients wait for their answers, so that nobody chooses its load; give a --rate or a --load"
    )]
    Closed,
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
        objectives.push(Objective::rejected_at_most_five_percent());
    }
    let search = search::Search::new(model, &objectives, options.plan);
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

/// Settings that serve within so much of one another serve as many.
const AS_MANY: f64 = 0.005;

fn best(trials: &[Trial]) -> Option<&Trial> {
    let met = || trials.iter().filter(|trial| trial.met);
    let most = met().map(|trial| trial.throughput.mean).fold(0.0, f64::max);
    met()
        .filter(|trial| trial.throughput.mean >= most * (1.0 - AS_MANY))
        .min_by_key(|trial| (trial.queue, trial.threads))
}

impl Trial {
    fn new(model: &Model, load: f64, objectives: &[Objective], outcome: &Outcome) -> Self {
        Self {
            threads: model.threads,
            queue: model.queue,
            load,
            at_least: false,
            rate: load * f64::from(model.processors) / model.mean_demand(),
            met: objectives.iter().all(|objective| objective.is_surely_met(outcome)),
            figures: objectives.iter().map(|objective| objective.figure(outcome)).collect(),
            throughput: outcome.throughput,
            rejected: outcome.rejected,
        }
    }
}
