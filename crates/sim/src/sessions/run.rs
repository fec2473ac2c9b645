//! [`run_sessions`]: as many replications as it takes.

use std::time::Instant;

use super::model::SessionModel;
use super::outcome::SessionsOutcome;
use super::replication::Replication;
use super::seen::Intervals;
use crate::control::Control;
use crate::model::SessionModelError;
use crate::outcome::Precision;
use crate::parallel::in_parallel;
use crate::plan::Plan;

/// Simulates `model`. How long a replication is, the model says; the plan says how many there are, and
/// where random numbers begin. The same seed gives the same outcome on any number of cores, except for
/// the time that it took, and the same arrivals with and without a gate.
///
/// # Errors
/// When the model cannot be simulated.
pub fn run_sessions(model: &SessionModel, plan: &Plan) -> Result<SessionsOutcome, SessionModelError> {
    run_sessions_under(model, plan, Control::NONE)
}

/// As [`run_sessions`], for somebody who waits. What was ended early is what was known by then, and
/// marked.
///
/// # Errors
/// When the model cannot be simulated.
pub fn run_sessions_under(
    model: &SessionModel,
    plan: &Plan,
    control: Control<'_>,
) -> Result<SessionsOutcome, SessionModelError> {
    model.check()?;
    let began = Instant::now();
    let mut done: Vec<Replication> = Vec::new();
    let mut intervals = Intervals::default();
    loop {
        let numbers = plan.round(done.len() as u32);
        for replication in in_parallel(plan.cores, numbers, control, |number| {
            Replication::simulate(model, plan.seed, number)
        }) {
            let mut replication = replication?;
            intervals.add(std::mem::take(&mut replication.intervals));
            done.push(replication);
        }
        let mut outcome = SessionsOutcome::new(model, &done, &intervals);
        outcome.precision =
            plan.precision.map_or(Precision::Fixed, |wanted| outcome.judge(wanted, plan.replications));
        let is_enough = outcome.precision == Precision::Reached || outcome.replications >= plan.replications;
        if !is_enough && control.is_stopped() {
            outcome.precision = Precision::Interrupted;
        }
        if is_enough || control.is_stopped() {
            outcome.elapsed = began.elapsed().as_secs_f64();
            return Ok(outcome);
        }
    }
}
