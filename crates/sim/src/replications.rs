//! [`run`]: as much simulation as it takes.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::control::Control;
use crate::draw::Seed;
use crate::engine::{Length, Watch, replicate};
use crate::model::{Model, ModelError};
use crate::outcome::{Outcome, Parts, Precision, Tally};
use crate::sessions::SessionModelError;
use crate::subject::{ModelGate, Subject};
use crate::warmup::Warmup;

/// Replications are judged after so many, and whenever there are a quarter more, whatever the number
/// of cores, so that the outcome does not depend on it.
const ROUND: u32 = 8;
/// More are not kept in memory one by one.
const MOST_AT_ONCE: u32 = 256;

/// A replication is at least so many times as long as its warm-up.
const LENGTH_OVER_WARMUP: u64 = 10;

/// Replications are summed up in so many parts at most, and one long run in so many stretches.
const GROUPS: usize = 64;
const STRETCHES: usize = 600;

/// How much to simulate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Where random numbers begin.
    pub seed: u64,
    /// Requests in a replication at least, warm-up not included.
    pub requests: u64,
    /// Requests before those; found by MSER-5 in pilot runs when it is `None`.
    pub warmup: Option<u64>,
    /// Replications at most.
    pub replications: u32,
    /// No more replications when the confidence intervals of the share of rejected requests, of mean
    /// latency and of its 90th percentile are narrower than so much of them, to either side.
    pub precision: Option<f64>,
    /// One run as long as all replications together instead of them, for what takes long to settle;
    /// intervals come from overlapping batch means.
    pub long_run: bool,
    /// Threads that simulate; all there are when it is `None`.
    pub cores: Option<NonZeroUsize>,
}

impl Plan {
    /// The replications to do before the outcome is judged again, when so many are `done`.
    pub(crate) fn round(&self, done: u32) -> Range<u32> {
        let more = self.precision.map_or(MOST_AT_ONCE, |_| ROUND.max(done / 4).min(MOST_AT_ONCE));
        done..done.saturating_add(more).min(self.replications)
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 1,
            requests: 200_000,
            warmup: None,
            replications: 400,
            precision: Some(0.01),
            long_run: false,
            cores: None,
        }
    }
}

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
    let subject = Subject { model, gate: Some(gate) };
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

/// A replication has at least ten times as many requests as are not counted.
pub(crate) fn length(plan: &Plan, warmup: Warmup) -> Length {
    let requests = plan.requests.max(warmup.requests.saturating_mul(LENGTH_OVER_WARMUP));
    Length { warmup: warmup.requests, requests, stretches: 1 }
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
        let judged = |wanted| outcome.judge(wanted, plan.replications, f64::from(count));
        outcome.precision = plan.precision.map_or(Precision::Fixed, judged);
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
    tally: Tally,
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
    let reached = |done: &Done, wanted: f64| {
        let outcome = done.outcome(subject, length, stats::Dependence::Consecutive);
        outcome.judge(wanted, plan.replications, 1.0) == Precision::Reached
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
        match plan.precision {
            Some(wanted) if reached(&done, wanted) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    done.took = began.elapsed();
    let mut outcome = done.outcome(subject, length, stats::Dependence::Consecutive);
    outcome.requests = requests * u64::from(count);
    outcome.replications = 1;
    let replications = outcome.requests as f64 / length.requests as f64;
    let judge = |wanted| outcome.judge(wanted, plan.replications, replications);
    outcome.precision = plan.precision.map_or(Precision::Fixed, judge);
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
        let mut outcome = Outcome::new(subject, self.parts.as_slice(), parts);
        outcome.events = self.events;
        outcome.events_per_second = self.events as f64 / self.took.as_secs_f64();
        (outcome.warmup, outcome.requests) = (length.warmup, length.requests);
        outcome
    }
}

/// What `job` gives for each of the numbers, in their order, computed on so many cores; without the
/// last of them when it is ended early.
pub(crate) fn in_parallel<T: Send>(
    cores: Option<NonZeroUsize>,
    numbers: Range<u32>,
    control: Control<'_>,
    job: impl Fn(u32) -> T + Sync,
) -> Vec<T> {
    let cores = cores.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let next = AtomicU32::new(numbers.start);
    let done = Mutex::new(Vec::with_capacity(numbers.len()));
    let work = || {
        while !control.is_stopped() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            let result = job(number);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((number, result));
            (control.tell)(numbers.start + done.len() as u32);
        }
    };
    thread::scope(|scope| {
        (1..cores.min(numbers.len())).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
