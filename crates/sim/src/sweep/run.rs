//! [`run`]: the points of sweeps that are not known yet, on all cores.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::thread;

use record::sweep::{PointRow, SweepDirectory};
use stats::MeanEstimate;

use super::error::SweepError;
use super::spec::{Spec, Work};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::replications;

/// A share of the points: each is of exactly one shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    index: usize,
    of: usize,
}

/// A text that is not a [`Shard`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a shard is written as I/N, I from 1 to N, as in 2/8; not {0:?}")]
pub struct NoShard(String);

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let parsed =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err(NoShard(text.to_owned())),
        }
    }
}

/// How to do sweeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Only these points.
    pub shard: Option<Shard>,
    /// Threads that simulate; all there are when it is `None`.
    pub cores: Option<NonZeroUsize>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Points that were known before.
    pub before: usize,
    /// Points that have been simulated since.
    pub done: usize,
    /// Points that are left for this process.
    pub left: usize,
    /// Points for other shards to do.
    pub elsewhere: usize,
}

/// Simulates the points of `sweeps` that are not in their directories yet, and tells after each
/// how far it is. A sweep all of whose points are known gets its table of all points. The
/// rows do not depend on the number of cores, nor on the process that computes them.
///
/// # Errors
/// When a directory holds another sweep, or cannot be read or written.
pub fn run(
    sweeps: &[(Spec, PathBuf)],
    options: Options,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<Progress, SweepError> {
    let mut directories = Vec::new();
    let (mut tasks, mut progress) = (Vec::new(), Progress::default());
    for (spec, path) in sweeps {
        let directory = SweepDirectory::begin(path, &spec.index, &spec.text)?;
        let known = directory.known()?;
        for (number, work) in spec.works.iter().enumerate() {
            let position = tasks.len() + progress.before + progress.elsewhere;
            if known.contains(&(number as u32)) {
                progress.before += 1;
            } else if options.shard.is_some_and(|shard| position % shard.of != shard.index - 1) {
                progress.elsewhere += 1;
            } else {
                tasks.push((directories.len(), number, work));
            }
        }
        directories.push(directory);
    }
    progress.left = tasks.len();
    tell(progress);
    // What takes longest is taken first, from the end, so that no core is left with it alone.
    tasks.sort_by_key(|(_, _, work)| work.model.queue.map_or(u64::MAX, u64::from));
    let tasks = Mutex::new((tasks, progress));
    simulate(&tasks, &directories, options, tell)?;
    for (directory, (spec, _)) in directories.iter().zip(sweeps) {
        if directory.known()?.len() == spec.works.len() {
            directory.merge()?;
        }
    }
    Ok(tasks.into_inner().unwrap_or_else(PoisonError::into_inner).1)
}

/// How many points that are known in the directory of a sweep are not as precise as its spec wants.
///
/// # Errors
/// When the directory cannot be read.
pub fn imprecise(path: &Path) -> Result<usize, SweepError> {
    let rows = SweepDirectory::open(path)?.points()?;
    Ok(rows.iter().filter(|row| !row.precise).count())
}

/// The sweep's number, the point's, and what is to be done there.
type Task<'a> = (usize, usize, &'a Work);

fn simulate(
    tasks: &Mutex<(Vec<Task<'_>>, Progress)>,
    directories: &[SweepDirectory],
    options: Options,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<(), SweepError> {
    let cores = options.cores.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let failed = Mutex::new(None);
    let locked = || tasks.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        while failed.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            let (task, share) = {
                let mut tasks = locked();
                // The last few points are done by several cores each.
                let share = cores / tasks.0.len().clamp(1, cores);
                (tasks.0.pop(), share)
            };
            let Some((sweep, number, work)) = task else { return };
            let written = work
                .row(number as u32, NonZeroUsize::new(share))
                .and_then(|row| directories[sweep].write_point(row).map_err(SweepError::from));
            if let Err(why) = written {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                return;
            }
            let mut tasks = locked();
            tasks.1.done += 1;
            tasks.1.left -= 1;
            tell(tasks.1);
        }
    };
    thread::scope(|scope| {
        (1..cores).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

impl Work {
    fn row(&self, point: u32, cores: Option<NonZeroUsize>) -> Result<PointRow, SweepError> {
        let outcome = replications::run(&self.model, &Plan { cores, ..self.plan })?;
        Ok(self.filled(point, &outcome))
    }

    fn filled(&self, point: u32, outcome: &Outcome) -> PointRow {
        let Self { mix, model, plan, .. } = self;
        let ends = |estimate: &MeanEstimate| (estimate.mean, estimate.ci[0], estimate.ci[1]);
        let (rejected, rejected_low, rejected_high) = ends(&outcome.rejected);
        let (latency, latency_low, latency_high) = ends(&outcome.latency.mean);
        let (p50, p50_low, p50_high) = ends(&outcome.latency.p50);
        let (p90, p90_low, p90_high) = ends(&outcome.latency.p90);
        let (p95, p95_low, p95_high) = ends(&outcome.latency.p95);
        let (p99, p99_low, p99_high) = ends(&outcome.latency.p99);
        let (p999, p999_low, p999_high) = ends(&outcome.latency.p999);
        let (utilization, utilization_low, utilization_high) = ends(&outcome.utilization);
        let (throughput, throughput_low, throughput_high) = ends(&outcome.throughput);
        let (present, present_low, present_high) = ends(&outcome.present);
        PointRow {
            point,
            curve: self.curve.as_str().into(),
            x: self.x,
            load: model.load().unwrap_or(f64::NAN),
            arrivals: model.arrivals.to_string().into(),
            dynamic: mix.dynamic,
            dynamic_cost: mix.cost,
            static_time: mix.static_time,
            service: model.service.to_string().into(),
            threads: model.threads,
            queue: model.queue,
            discipline: model.discipline.to_string().into(),
            processors: model.processors,
            seed: plan.seed,
            replications: outcome.replications,
            warmup: outcome.warmup,
            requests: outcome.requests,
            events: outcome.events,
            precise: outcome.precision.is_enough(),
            rejected,
            rejected_low,
            rejected_high,
            latency,
            latency_low,
            latency_high,
            p50,
            p50_low,
            p50_high,
            p90,
            p90_low,
            p90_high,
            p95,
            p95_low,
            p95_high,
            p99,
            p99_low,
            p99_high,
            p999,
            p999_low,
            p999_high,
            utilization,
            utilization_low,
            utilization_high,
            throughput,
            throughput_low,
            throughput_high,
            present,
            present_low,
            present_high,
        }
    }
}
