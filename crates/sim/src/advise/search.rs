//! The largest load with which a setting meets the objectives.

use super::objective::Objective;
use super::trial::Trial;
use crate::model::{Model, ModelError, Offered};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::replications::run;

/// The smallest load that is tried, of what the processors can serve, and the first that is surely
/// more than enough; the latter is doubled until it is, but not beyond what no server is offered.
const MIN_LOAD: f64 = 0.05;
const ENOUGH: f64 = 1.5;
const MAX_LOAD: f64 = 96.0;

/// How exactly the largest one is found.
const STEP: f64 = 0.01;

#[derive(Debug, Clone, Copy)]
pub(super) struct LoadSearch<'a> {
    model: &'a Model,
    objectives: &'a [Objective],
    plan: Plan,
}

impl<'a> LoadSearch<'a> {
    pub(super) fn new(model: &'a Model, objectives: &'a [Objective], plan: Plan) -> Self {
        Self { model, objectives, plan }
    }

    pub(super) fn trial(&self, model: &Model, load: f64, outcome: &Outcome) -> Trial {
        Trial::new(model, load, self.objectives, outcome)
    }

    fn try_out(&self, threads: u32, queue: u32, load: f64) -> Result<Trial, ModelError> {
        let model = Model { threads, queue: Some(queue), offered: Offered::Load(load), ..self.model.clone() };
        Ok(self.trial(&model, load, &run(&model, &self.plan)?))
    }

    /// The largest load by bisection, and how many simulations it took: with a fixed setting latency and rejection
    /// both grow with the load.
    pub(super) fn largest_load(&self, threads: u32, queue: u32) -> Result<(Trial, u32), ModelError> {
        let mut best = self.try_out(threads, queue, MIN_LOAD)?;
        let mut simulations = 1;
        if !best.met {
            return Ok((best, simulations));
        }
        let (mut low, mut high) = (MIN_LOAD, ENOUGH);
        loop {
            let trial = self.try_out(threads, queue, high)?;
            simulations += 1;
            if !trial.met {
                break;
            }
            if high >= MAX_LOAD {
                return Ok((Trial { at_least: true, ..trial }, simulations));
            }
            (low, best, high) = (high, trial, high * 2.0);
        }
        while high - low > STEP {
            let middle = f64::midpoint(low, high);
            let trial = self.try_out(threads, queue, middle)?;
            simulations += 1;
            if trial.met {
                (low, best) = (middle, trial);
            } else {
                high = middle;
            }
        }
        Ok((best, simulations))
    }
}
