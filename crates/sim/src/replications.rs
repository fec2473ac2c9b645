//! [`run`]: as much simulation as it takes.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::draw::Seed;
use crate::engine::{Length, Watch, replicate};
use crate::model::{Model, ModelError};
use crate::outcome::{Outcome, Precision, Summary};
use crate::statistics::{BATCH, Estimate, mser, overlapping_batch_means};

/// Replications are judged after so many, and whenever there are a quarter more, whatever the number
/// of cores, so that the outcome does not depend on it.
const ROUND: u32 = 8;

/// A replication is at least so many times as long as its warm-up.
const LENGTH_OVER_WARMUP: u64 = 10;

/// The warm-up is looked for in the average of so many replications.
const PILOTS: u32 = 8;
/// They are doubled so often before its end is given up on.
const DOUBLINGS: u32 = 4;

/// One long run is summed up in so many stretches, and batches are of so many of these.
const STRETCHES: u32 = 600;
const STRETCHES_PER_BATCH: usize = 20;

/// How much to simulate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Where random numbers begin.
    pub seed: u64,
    /// Requests in a replication, warm-up not included.
    pub requests: u64,
    /// Requests before those; found by MSER-5 in pilot runs when it is `None`.
    pub warmup: Option<u64>,
    /// Replications at most.
    pub replications: u32,
    /// No more replications when all confidence intervals are narrower than so much of their mean, to either side.
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
        let more = if self.precision.is_some() { ROUND.max(done / 4) } else { u32::MAX };
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
    model.check()?;
    let began = Instant::now();
    let (warmup, requests) = length(model, plan);
    let mut outcome = if plan.long_run {
        long_run(model, plan, warmup, requests)
    } else {
        replications(model, plan, Length { warmup, requests, stretches: 1 })
    };
    outcome.elapsed = began.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Requests that a replication does not count, and those that it does.
pub(crate) fn length(model: &Model, plan: &Plan) -> (u64, u64) {
    let warmup = plan.warmup.unwrap_or_else(|| pilot(model, plan));
    (warmup, plan.requests.max(warmup.saturating_mul(LENGTH_OVER_WARMUP)))
}

fn replications(model: &Model, plan: &Plan, length: Length) -> Outcome {
    let mut done = Done::default();
    loop {
        let numbers = plan.round(done.summaries.len() as u32);
        let blank = Watch::new(model.classes.len());
        in_parallel(plan.cores, numbers, |number| one(model, plan, length, number, &blank))
            .into_iter()
            .for_each(|one| done.add(one));
        let mut outcome = done.outcome(model, length, |values| Estimate::of(values.iter().copied()));
        outcome.replications = done.summaries.len() as u32;
        outcome.precision =
            plan.precision.map_or(Precision::Fixed, |wanted| outcome.judge(wanted, plan.replications));
        if outcome.precision == Precision::Reached || outcome.replications >= plan.replications {
            return outcome;
        }
    }
}

fn long_run(model: &Model, plan: &Plan, warmup: u64, requests: u64) -> Outcome {
    let all = requests.saturating_mul(u64::from(plan.replications));
    let length = Length { warmup, requests: all.div_ceil(u64::from(STRETCHES)), stretches: STRETCHES };
    let mut done = Done::default();
    done.add(one(model, plan, length, 0, &Watch::new(model.classes.len())));
    let mut outcome =
        done.outcome(model, length, |values| overlapping_batch_means(values, STRETCHES_PER_BATCH));
    outcome.requests = length.requests * u64::from(STRETCHES);
    outcome.replications = 1;
    outcome.precision = plan.precision.map_or(Precision::Fixed, |wanted| outcome.judge(wanted, 1));
    outcome
}

/// What is known so far.
#[derive(Default)]
struct Done {
    summaries: Vec<Summary>,
    events: u64,
    took: Duration,
}

impl Done {
    fn add(&mut self, one: Self) {
        self.summaries.extend(one.summaries);
        self.events += one.events;
        self.took += one.took;
    }

    fn outcome(&self, model: &Model, length: Length, estimate: impl Fn(&[f64]) -> Estimate) -> Outcome {
        let mut outcome = Outcome::new(model, &self.summaries, estimate);
        outcome.events = self.events;
        outcome.events_per_second = self.events as f64 / self.took.as_secs_f64();
        (outcome.warmup, outcome.requests) = (length.warmup, length.requests);
        outcome
    }
}

fn one(model: &Model, plan: &Plan, length: Length, number: u32, blank: &Watch) -> Done {
    let began = Instant::now();
    let mut summaries = Vec::with_capacity(length.stretches as usize);
    let mut each = |watch: Watch| summaries.push(Summary::of(&watch, model));
    let events = replicate(model, Seed::new(plan.seed, number), length, blank, &mut each);
    Done { summaries, events, took: began.elapsed() }
}

/// What `job` gives for each of the numbers, in their order, computed on so many cores.
pub(crate) fn in_parallel<T: Send>(
    cores: Option<NonZeroUsize>,
    numbers: Range<u32>,
    job: impl Fn(u32) -> T + Sync,
) -> Vec<T> {
    let cores = cores.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let next = AtomicU32::new(numbers.start);
    let done = Mutex::new(Vec::with_capacity(numbers.len()));
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= numbers.end {
            return;
        }
        let result = job(number);
        done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
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

/// Requests to leave out at the beginning, from the latencies of replications of their own.
fn pilot(model: &Model, plan: &Plan) -> u64 {
    let mut requests = plan.requests;
    for _ in 0..DOUBLINGS {
        let average = average_latencies(model, plan, requests);
        if average.len() < 20 * BATCH {
            return 0;
        }
        if let Some(cut) = mser(&average) {
            return cut as u64;
        }
        requests *= 2;
    }
    requests / 4
}

/// The latency of the first request that was served, the second, and so on: the average over the pilot runs.
fn average_latencies(model: &Model, plan: &Plan, requests: u64) -> Vec<f64> {
    let blank = Watch { sequence: Some(Vec::new()), ..Watch::new(model.classes.len()) };
    let length = Length { warmup: 0, requests, stretches: 1 };
    let sequences = in_parallel(plan.cores, 0..PILOTS, |number| {
        let mut sequence = Vec::new();
        let seed = Seed::new(plan.seed, u32::MAX - number);
        replicate(model, seed, length, &blank, &mut |watch| sequence = watch.sequence.unwrap_or_default());
        sequence
    });
    let shortest = sequences.iter().map(Vec::len).min().unwrap_or(0);
    let mut average = vec![0.0; shortest];
    for sequence in &sequences {
        average.iter_mut().zip(sequence).for_each(|(sum, latency)| *sum += latency / f64::from(PILOTS));
    }
    average
}
