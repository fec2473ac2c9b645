//! [`run`]: as many replications as it takes.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::draw::Seed;
use crate::engine::{Length, Watch, replicate};
use crate::model::{Model, ModelError};
use crate::outcome::{Outcome, Precision};
use crate::statistics::{BATCH, mser};

/// Replications are judged after every so many, whatever the number of cores, so that the outcome does
/// not depend on it.
const ROUND: u32 = 8;

/// A replication is at least so many times as long as its warm-up.
const LENGTH_OVER_WARMUP: u64 = 10;

/// The pilot run is doubled so often before its warm-up is given up on.
const DOUBLINGS: u32 = 4;

/// How much to simulate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Where random numbers begin.
    pub seed: u64,
    /// Requests in a replication, warm-up not included.
    pub requests: u64,
    /// Requests before those; found by MSER-5 in a pilot run when it is `None`.
    pub warmup: Option<u64>,
    /// Replications at most.
    pub replications: u32,
    /// No more replications when all confidence intervals are narrower than so much of their mean, to either side.
    pub precision: Option<f64>,
    /// Threads that simulate; all there are when it is `None`.
    pub cores: Option<NonZeroUsize>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 1,
            requests: 200_000,
            warmup: None,
            replications: 400,
            precision: Some(0.01),
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
    let warmup = plan.warmup.unwrap_or_else(|| pilot(model, plan));
    let requests = plan.requests.max(warmup.saturating_mul(LENGTH_OVER_WARMUP));
    let length = Length { warmup, requests };
    let (mut done, mut precision) = (Vec::new(), Precision::Fixed);
    while done.len() < plan.replications as usize {
        let first = done.len() as u32;
        let until = (first + ROUND).min(plan.replications);
        done.extend(round(model, plan, length, first..until));
        if let Some(wanted) = plan.precision {
            let outcome = Outcome::new(model, &done, length);
            precision = outcome.judge(wanted, plan.replications);
            if precision == Precision::Reached {
                break;
            }
        }
    }
    let mut outcome = Outcome::new(model, &done, length);
    outcome.precision = precision;
    outcome.elapsed = began.elapsed().as_secs_f64();
    Ok(outcome)
}

/// One replication's number of events and what was seen.
pub(crate) struct Replication {
    pub(crate) watch: Watch,
    pub(crate) events: u64,
    /// What it took one core.
    pub(crate) took: Duration,
}

fn one(model: &Model, plan: &Plan, length: Length, number: u32) -> Replication {
    let began = Instant::now();
    let mut watch = Watch::new(model.classes.len());
    let events = replicate(model, Seed::new(plan.seed, number), length, &mut watch);
    Replication { watch, events, took: began.elapsed() }
}

/// Replications of these numbers, in order, on all cores.
fn round(model: &Model, plan: &Plan, length: Length, numbers: std::ops::Range<u32>) -> Vec<Replication> {
    let cores = plan.cores.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let next = AtomicU32::new(numbers.start);
    let done = Mutex::new(Vec::new());
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= numbers.end {
            return;
        }
        let replication = one(model, plan, length, number);
        done.lock().unwrap_or_else(PoisonError::into_inner).push((number, replication));
    };
    thread::scope(|scope| {
        (1..cores.min(numbers.len())).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, replication)| replication).collect()
}

/// Requests to leave out at the beginning, from the latencies of a replication of its own.
fn pilot(model: &Model, plan: &Plan) -> u64 {
    let mut requests = plan.requests;
    for _ in 0..DOUBLINGS {
        let mut watch = Watch { sequence: Some(Vec::new()), ..Watch::new(model.classes.len()) };
        let length = Length { warmup: 0, requests };
        replicate(model, Seed::new(plan.seed, u32::MAX), length, &mut watch);
        let sequence = watch.sequence.unwrap_or_default();
        if sequence.len() < 20 * BATCH {
            return 0;
        }
        if let Some(cut) = mser(&sequence) {
            return cut as u64;
        }
        requests *= 2;
    }
    requests / 4
}
