//! [`Warmup`]: how much of the beginning of a replication is not typical, from pilot runs.

use std::ops::ControlFlow;

use stats::autocorrelation_time;
use stats::mser;

use crate::control::Control;
use crate::draw::Seed;
use crate::engine::{Length, replicate};
use crate::parallel::in_parallel;
use crate::plan::Plan;
use crate::subject::Subject;

/// The warm-up is looked for in so many replications, each cut into so many intervals.
const PILOTS: u32 = 8;
const INTERVALS: u32 = 512;

/// Shorter pilots than this say too little.
const MIN_REQUESTS: u64 = 20_000;
/// What a pilot has to last, in autocorrelation_time times, for these to be known.
const LONG_ENOUGH: f64 = 50.0;
/// Pilots that are too short are made so much longer, so often.
const GROWTH: u64 = 4;
const ATTEMPTS: u32 = 5;

/// After so many autocorrelation_time times an empty server is forgotten, but for a fiftieth.
const RELAXATIONS: f64 = 4.0;

/// A replication is at least so many times as long as its warm-up.
const LENGTH_OVER_WARMUP: u64 = 10;

/// What is not counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Warmup {
    /// Requests at the beginning.
    pub(crate) requests: u64,
    /// Requests of the pilot runs, where even these did not come to rest.
    pub(crate) unsettled: Option<u64>,
    /// Twice the relaxation time, in requests, where it was looked for and found: a mean over requests is as sure as that of
    /// so many times fewer that are independent.
    pub(crate) memory: Option<f64>,
}

impl Warmup {
    /// Of the replications of `plan`: as stated, or found in pilot runs.
    pub(crate) fn of(subject: Subject<'_>, plan: &Plan, control: Control<'_>) -> Self {
        let find = || Self::find(subject, plan, Control { tell: &|_| (), ..control });
        plan.warmup.map_or_else(find, |requests| Self { requests, unsettled: None, memory: None })
    }

    /// Mean latency over the arrivals of pilot runs that are as long as it takes: what MSER leaves out
    /// of their average, or a few autocorrelation_time times if that is more. MSER alone says now this and now
    /// that where a queue takes 100,000 requests to fill.
    fn find(subject: Subject<'_>, plan: &Plan, control: Control<'_>) -> Self {
        let mut requests = plan.requests.max(MIN_REQUESTS);
        for attempt in 1..=ATTEMPTS {
            let each = requests.div_ceil(u64::from(INTERVALS));
            let pilots = in_parallel(plan.cores, 0..PILOTS, control, |number| {
                latencies(subject, Seed::new(plan.seed, u32::MAX - number), each, control)
            });
            if control.is_stopped() {
                break;
            }
            if let Some((intervals, time)) = settling(&pilots) {
                let memory = Some(2.0 * time * each as f64);
                return Self { requests: intervals as u64 * each, unsettled: None, memory };
            }
            if attempt < ATTEMPTS {
                requests *= GROWTH;
            }
        }
        Self { requests: requests / 4, unsettled: Some(requests), memory: None }
    }
}

/// A replication has at least ten times as many requests as are not counted.
pub(crate) fn length(plan: &Plan, warmup: Warmup) -> Length {
    let requests = plan.requests.max(warmup.requests.saturating_mul(LENGTH_OVER_WARMUP));
    Length { warmup: warmup.requests, requests, stretches: 1, memory: warmup.memory }
}

/// Mean latencies in intervals of so many arrivals. Where nothing was completed it is taken to be
/// what it was before.
fn latencies(subject: Subject<'_>, seed: Seed, each: u64, control: Control<'_>) -> Vec<f64> {
    let length = Length { warmup: 0, requests: each, stretches: INTERVALS, memory: None };
    let mut means = Vec::with_capacity(INTERVALS as usize);
    replicate(subject, seed, length, &subject.watch(), &mut |watch| {
        let (sum, count) = watch.classes.iter().fold((0.0, 0), |(sum, count), seen| {
            (sum + seen.latencies.sum(), count + seen.latencies.count())
        });
        let before = means.last().copied().unwrap_or(0.0);
        means.push(if count == 0 { before } else { sum / count as f64 });
        if control.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    means
}

/// Differences below this share are those of rounding: where no request waits, and all need as much, latency says nothing.
const ROUNDING: f64 = 1e-9;

fn is_constant(values: &[f64]) -> bool {
    let (least, most) = values
        .iter()
        .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)));
    most - least <= ROUNDING * most.abs()
}

/// After how many intervals the pilots are as they go on, and their relaxation time in intervals; `None` when they are too
/// short to tell.
fn settling(pilots: &[Vec<f64>]) -> Option<(usize, f64)> {
    let shortest = pilots.iter().map(Vec::len).min().unwrap_or(0);
    let average = |at: usize| stats::mean(pilots.iter().map(|pilot| pilot[at])).unwrap_or(f64::NAN);
    let averages: Vec<f64> = (0..shortest).map(average).collect();
    if is_constant(&averages) {
        return Some((1, 0.5));
    }
    let cut = mser(&averages)?;
    let rests: Vec<&[f64]> = pilots.iter().map(|pilot| &pilot[cut..]).collect();
    let time = autocorrelation_time(&rests)?;
    if ((shortest - cut) as f64) < LONG_ENOUGH * time {
        return None;
    }
    Some((cut.max((RELAXATIONS * time).ceil() as usize), time))
}
