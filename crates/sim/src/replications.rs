//! [`run`]: as much simulation as it takes.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::control::Control;
use crate::draw::Seed;
use crate::engine::{Length, replicate};
use crate::model::SessionModelError;
use crate::model::{Model, ModelError};
use crate::outcome::{Outcome, PartTotals, Parts, Precision};
use crate::parallel::in_parallel;
use crate::plan::{Plan, ROUND};
use crate::subject::{ModelGate, Subject};
use crate::warmup::{Warmup, length};
use crate::watch::Watch;

/// Replications are summed up in so many parts at most, and one long run in so many stretches.
const GROUPS: usize = 64;
const STRETCHES: usize = 600;

/// Simulates `model`. The same plan gives the same outcome on any number of cores, except for the
/// time that it took.
///
/// # Errors
/// When the model cannot be simulated.
pub fn run(model: &Model, plan: &Plan) -> Result<Outcome, ModelError> {
    run_under(model, plan, Control::NONE)
}

/// As [`run`], for somebody who waits. What was ended early is what was known by then, and marked.
///
/// # Errors
/// When the model cannot be simulated.
pub fn run_under(model: &Model, plan: &Plan, control: Control<'_>) -> Result<Outcome, ModelError> {
    model.check()?;
    model.check_without_gate()?;
    Ok(simulate(model.into(), plan, control))
}

/// As [`run_under`], with a gate in front of the server.
///
/// # Errors
/// When the model, or the gate's policy, cannot be simulated.
pub fn run_behind(
    gate: &ModelGate,
    model: &Model,
    plan: &Plan,
    control: Control<'_>,
) -> Result<Outcome, SessionModelError> {
    let subject = Subject { model, gate: Some(gate), surge: None };
    subject.check()?;
    Ok(simulate(subject, plan, control))
}

fn simulate(subject: Subject<'_>, plan: &Plan, control: Control<'_>) -> Outcome {
    let began = Instant::now();
    let warmup = Warmup::of(subject, plan, control);
    let length = length(plan, warmup);
    let simulate = if plan.long_run { long_run } else { replications };
    let mut outcome = simulate(subject, plan, length, control);
    if let Some(requests) = warmup.unsettled
        && outcome.precision != Precision::Interrupted
    {
        outcome.precision = Precision::Unsettled { requests };
    }
    outcome.elapsed = began.elapsed().as_secs_f64();
    outcome
}

fn replications(subject: Subject<'_>, plan: &Plan, length: Length, control: Control<'_>) -> Outcome {
    let mut done = Done::new(GROUPS);
    let mut count = 0;
    loop {
        for one in
            in_parallel(plan.cores, plan.round(count), control, |number| one(subject, plan, length, number))
        {
            done.add(one);
            count += 1;
        }
        let mut outcome = done.outcome(subject, length, stats::Dependence::Independent);
        outcome.replications = count;
        outcome.precision = outcome.judge(plan, f64::from(count));
        if outcome.precision == Precision::Reached || count >= plan.replications {
            return outcome;
        }
        if control.is_stopped() {
            outcome.precision = Precision::Interrupted;
            return outcome;
        }
    }
}

/// What a replication says.
struct One {
    tally: PartTotals,
    events: u64,
    took: Duration,
}

fn one(subject: Subject<'_>, plan: &Plan, length: Length, number: u32) -> One {
    let began = Instant::now();
    let mut watch = Watch::new(0);
    let blank = subject.watch();
    let seed = Seed::new(plan.seed, number);
    let events = replicate(subject, seed, length, &blank, &mut |seen| {
        watch = seen;
        ControlFlow::Continue(())
    });
    One { tally: watch.into(), events, took: began.elapsed() }
}

/// One run that is as long as eight replications and, until it is precise enough, as all of them. It
/// is judged when it has become a quarter longer.
fn long_run(subject: Subject<'_>, plan: &Plan, length: Length, control: Control<'_>) -> Outcome {
    let began = Instant::now();
    let all = length.requests.saturating_mul(u64::from(plan.replications));
    let first = length.requests.saturating_mul(u64::from(ROUND)).min(all);
    let requests = first.div_ceil(STRETCHES as u64).max(1);
    let stretches = u32::try_from(all / requests).unwrap_or(u32::MAX);
    let mut done = Done::new(STRETCHES);
    let (mut count, mut judged) = (0, STRETCHES as u32);
    let blank = subject.watch();
    let seed = Seed::new(plan.seed, 0);
    let reached = |done: &Done| {
        let outcome = done.outcome(subject, length, stats::Dependence::Consecutive);
        outcome.judge(plan, 1.0) == Precision::Reached
    };
    done.events = replicate(subject, seed, Length { requests, stretches, ..length }, &blank, &mut |watch| {
        done.parts.push(watch.into());
        count += 1;
        let replications = requests * u64::from(count) / length.requests;
        (control.tell)(u32::try_from(replications).unwrap_or(u32::MAX));
        if control.is_stopped() {
            return ControlFlow::Break(());
        }
        if count < judged {
            return ControlFlow::Continue(());
        }
        judged += judged / 4;
        if reached(&done) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    done.took = began.elapsed();
    let mut outcome = done.outcome(subject, length, stats::Dependence::Consecutive);
    outcome.requests = requests * u64::from(count);
    outcome.replications = 1;
    let replications = outcome.requests as f64 / length.requests as f64;
    outcome.precision = outcome.judge(plan, replications);
    if control.is_stopped() && outcome.precision != Precision::Reached && count < stretches {
        outcome.precision = Precision::Interrupted;
    }
    outcome
}

/// What is known so far.
struct Done {
    parts: Parts,
    events: u64,
    took: Duration,
}

impl Done {
    fn new(most: usize) -> Self {
        Self { parts: Parts::at_most(most), events: 0, took: Duration::ZERO }
    }

    fn add(&mut self, one: One) {
        self.parts.push(one.tally);
        self.events += one.events;
        self.took += one.took;
    }

    fn outcome(&self, subject: Subject<'_>, length: Length, parts: stats::Dependence) -> Outcome {
        let mut outcome = Outcome::new(subject, self.parts.as_slice(), parts, length.dependent());
        outcome.events = self.events;
        outcome.events_per_second = self.events as f64 / self.took.as_secs_f64();
        (outcome.warmup, outcome.requests) = (length.warmup, length.requests);
        outcome
    }
}
