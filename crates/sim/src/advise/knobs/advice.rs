//! [`KnobAdvice`]: what comes of each pair of knobs, and which is best.

#[cfg(test)]
mod tests;

use policy::Knobs;
use serde::Serialize;
use stats::MeanEstimate;
use units::Ratio;

use crate::advise::error::AdviceError;
use crate::advise::objective::Objective;
use crate::advise::options::AdviceOptions;
use crate::advise::trial::AS_MANY;
use crate::control::Control;
use crate::model::Model;
use crate::outcome::{GateClassOutcome, Outcome};
use crate::plan::Plan;
use crate::replications::run_behind;
use crate::subject::ModelGate;

/// Which knobs to try.
#[derive(Debug, Clone, PartialEq)]
pub struct KnobOptions {
    /// Values of differentiation; a few and the gate's own when it is empty.
    pub differentiation: Vec<Ratio>,
    /// Values of favour; likewise.
    pub favour: Vec<Ratio>,
    /// How much to simulate of each pair.
    pub plan: Plan,
}

impl Default for KnobOptions {
    fn default() -> Self {
        Self { differentiation: Vec::new(), favour: Vec::new(), plan: AdviceOptions::default().plan }
    }
}

const DIFFERENTIATION: [f64; 4] = [0.0, 0.5, 0.9, 1.0];
const FAVOUR: [f64; 3] = [0.0, 0.5, 1.0];

/// A pair of knobs, and what comes of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnobTrial {
    /// From 0, all classes alike, to 1, strict priority.
    pub differentiation: f64,
    /// From 0, fastest responses, to 1, most sessions.
    pub favour: f64,
    /// Whether the objectives are met, with 95 % confidence each.
    pub met: bool,
    /// What the objectives are about, in their order: seconds or shares.
    pub figures: Vec<MeanEstimate>,
    /// Requests of all classes served per second.
    pub throughput: MeanEstimate,
    /// The share of all requests that the gate or the server turned away.
    pub rejected: MeanEstimate,
    /// What became of the gate's classes, the most important first.
    pub classes: Vec<GateClassOutcome>,
}

/// Where to put the knobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnobAdvice {
    /// What is to be achieved.
    pub objectives: Vec<String>,
    /// The load that is offered, of what the processors can serve; `None` when clients that wait for their
    /// answers make it.
    pub load: Option<f64>,
    /// The gate as it is configured.
    pub now: KnobTrial,
    /// Each value of differentiation with each of favour.
    pub trials: Vec<KnobTrial>,
    /// Of those that meet the objectives the one that serves most of the most important class, of those
    /// that serve as many most of the next one, and so on; of equal ones that with the least differentiation,
    /// and then the least favour. `None` when none meets them.
    pub best: Option<KnobTrial>,
}

/// Finds the knobs of `gate` with which the server of `model`, offered the load of `model`, meets all
/// `objectives`. Before each pair `tell` is given how many have been tried, of how many.
///
/// # Errors
/// When the model or the gate cannot be simulated, there is no objective, or one is about a class that the
/// gate has not or that no request is of.
pub fn advise_knobs(
    gate: &ModelGate,
    model: &Model,
    objectives: &[Objective],
    options: &KnobOptions,
    tell: &dyn Fn(usize, usize),
) -> Result<KnobAdvice, AdviceError> {
    if objectives.is_empty() {
        return Err(AdviceError::NoObjective);
    }
    for class in objectives.iter().filter_map(Objective::class) {
        if !gate.names.iter().any(|name| name == class) {
            return Err(AdviceError::UnknownClass { class: class.to_owned(), known: gate.names.join(", ") });
        }
    }
    let try_out = |knobs: Knobs| -> Result<KnobTrial, AdviceError> {
        let policy = policy::Config { knobs, ..gate.policy.clone() };
        let gate = ModelGate { policy, ..gate.clone() };
        let outcome = run_behind(&gate, model, &options.plan, Control::NONE)?;
        let class_without = |objective: &&Objective| objective.is_about_nothing(&outcome);
        match objectives.iter().find(class_without).and_then(Objective::class) {
            Some(class) => Err(AdviceError::EmptyClass(class.to_owned())),
            None => Ok(KnobTrial::new(knobs, objectives, outcome)),
        }
    };
    let own = gate.policy.knobs;
    let differentiation = or_default(&options.differentiation, &DIFFERENTIATION, own.differentiation);
    let favour = or_default(&options.favour, &FAVOUR, own.favour);
    let all = differentiation.len() * favour.len() + 1;
    tell(0, all);
    let now = try_out(own)?;
    let mut trials = Vec::new();
    for differentiation in differentiation {
        for &favour in &favour {
            tell(trials.len() + 1, all);
            let knobs = Knobs { differentiation, favour };
            trials.push(if knobs == own { now.clone() } else { try_out(knobs)? });
        }
    }
    let best = best(&trials, gate.policy.classes.len()).cloned();
    let objectives = objectives.iter().map(Objective::to_string).collect();
    Ok(KnobAdvice { objectives, load: model.load(), now, trials, best })
}

fn or_default(given: &[Ratio], known: &[f64], own: Ratio) -> Vec<Ratio> {
    let mut values = match given {
        [] => known.iter().map(|share| Ratio::clamped(*share)).chain([own]).collect(),
        _ => given.to_vec(),
    };
    values.sort_unstable_by(|one, other| one.as_f64().total_cmp(&other.as_f64()));
    values.dedup();
    values
}

/// Trials are in the order of differentiation and favour.
fn best(trials: &[KnobTrial], classes: usize) -> Option<&KnobTrial> {
    let mut left: Vec<&KnobTrial> = trials.iter().filter(|trial| trial.met).collect();
    for class in 0..classes {
        let served = |trial: &KnobTrial| trial.classes.get(class).map_or(0.0, |class| class.throughput.mean);
        let most = left.iter().map(|trial| served(trial)).fold(0.0, f64::max);
        left.retain(|trial| served(trial) >= most * (1.0 - AS_MANY));
    }
    left.first().copied()
}

impl KnobTrial {
    fn new(knobs: Knobs, objectives: &[Objective], outcome: Outcome) -> Self {
        Self {
            differentiation: knobs.differentiation.as_f64(),
            favour: knobs.favour.as_f64(),
            met: objectives.iter().all(|objective| objective.is_surely_met(&outcome)),
            figures: objectives.iter().map(|objective| objective.figure(&outcome)).collect(),
            throughput: outcome.throughput,
            rejected: outcome.rejected,
            classes: outcome.gate,
        }
    }
}
