//! [`time_series`]: what happens in each interval of a replication.

use std::ops::ControlFlow;

use crate::control::Control;
use crate::draw::Seed;
use crate::engine::{Length, replicate};
use crate::levels::{Level, Levels};
use crate::model::{Model, ModelError};
use crate::plan::Plan;
use crate::warmup::{Warmup, length};
use crate::watch::Watch;

/// As many intervals as a plot can show.
const INTERVALS: u64 = 400;

/// Replication 0 over simulated time, warm-up included. Times in seconds from its beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSeries {
    /// When the requests of the warm-up had come.
    pub warmup: f64,
    /// One after the other; the first begins at 0. All have the same number of arrivals; those at the
    /// end that do not fill one are left out.
    pub intervals: Vec<Interval>,
}

/// What happened in a part of a replication.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// From when.
    pub began: f64,
    /// Until when.
    pub ended: f64,
    /// Requests that waited for a thread.
    pub waiting: Range,
    /// Requests that had one.
    pub in_service: Range,
    /// The share of the processors' time in which they worked.
    pub utilization: f64,
    /// Requests that came.
    pub arrived: u64,
    /// Of these, those that were turned away.
    pub rejected: u64,
    /// By class, in the order of the model.
    pub classes: Vec<ClassInterval>,
}

/// A number of requests over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// On average.
    pub mean: f64,
    /// When it was least.
    pub least: u64,
    /// When it was greatest.
    pub most: u64,
}

/// What was completed of a class in a part of a replication.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassInterval {
    /// The class's name.
    pub name: String,
    /// How many requests.
    pub served: u64,
    /// Their mean latency, in seconds; not a number where there are none.
    pub latency: f64,
}

impl Interval {
    /// Its length in seconds.
    pub fn elapsed(&self) -> f64 {
        self.ended - self.began
    }

    /// Mean latency of all that was completed, in seconds; not a number where nothing was.
    pub fn latency(&self) -> f64 {
        let some = self.classes.iter().filter(|class| class.served > 0);
        let (sum, served) = some.fold((0.0, 0.0), |(sum, served), class| {
            let count = class.served as f64;
            (sum + class.latency * count, served + count)
        });
        sum / served
    }
}

/// What replication 0 of `plan` is like over time: the same requests that [`run`](crate::run) begins
/// with, in some hundred intervals. A pure function of its arguments.
///
/// Of a long run it is as much as a replication would be.
///
/// # Errors
/// When the model cannot be simulated.
pub fn time_series(model: &Model, plan: &Plan) -> Result<TimeSeries, ModelError> {
    model.check()?;
    let Length { warmup, requests, .. } = length(plan, Warmup::of(model.into(), plan, Control::NONE));
    let (all, seed) = (warmup + requests, Seed::new(plan.seed, 0));
    let each = all.div_ceil(INTERVALS).max(1);
    let blank = Watch { levels: Some(Levels::default()), ..Watch::new(model.classes.len()) };
    let mut intervals = Vec::with_capacity(INTERVALS as usize);
    let whole = Length { warmup: 0, requests: each, stretches: (all / each) as u32, memory: None };
    replicate(model.into(), seed, whole, &blank, &mut |watch| {
        intervals.push(Interval::of(&watch, model));
        ControlFlow::Continue(())
    });
    Ok(TimeSeries { warmup: end_of_warmup(model, seed, warmup), intervals })
}

/// When so many requests have come.
fn end_of_warmup(model: &Model, seed: Seed, warmup: u64) -> f64 {
    let mut end = 0.0;
    let length = Length { warmup: 0, requests: warmup, stretches: 1, memory: None };
    replicate(model.into(), seed, length, &Watch::new(0), &mut |watch| {
        end = watch.ended;
        ControlFlow::Continue(())
    });
    end
}

impl Interval {
    fn of(watch: &Watch, model: &Model) -> Self {
        let elapsed = watch.elapsed();
        let total = watch.total();
        let range = |level: Level| Range {
            mean: level.area / elapsed,
            least: level.least as u64,
            most: level.most as u64,
        };
        let levels = watch.levels.unwrap_or_default();
        let classes = model.classes.iter().zip(&watch.classes).map(|(class, seen)| ClassInterval {
            name: class.name.clone(),
            served: seen.latencies.count(),
            latency: seen.latencies.mean(),
        });
        Self {
            began: watch.began,
            ended: watch.ended,
            waiting: range(levels.waiting),
            in_service: range(levels.in_service),
            utilization: watch.busy / elapsed / model.all_processors(),
            arrived: total.arrived,
            rejected: total.rejected,
            classes: classes.collect(),
        }
    }
}
