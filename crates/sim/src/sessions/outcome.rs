//! [`SessionsOutcome`]: what came of sessions.

use std::fmt;

use serde::Serialize;
use stats::MeanEstimate;

use super::bound::completed_at_most;
use super::model::SessionModel;
use super::replication::Replication;
use super::seen::Intervals;
use super::tally::{Digest, Summary};
use crate::outcome::{LatencyOutcome, Precision};
use crate::text::{Missed, Percent, Plain};

/// What came of sessions: means over replications with their 95 % confidence intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionsOutcome {
    /// By class, in the order of the workload.
    pub classes: Vec<SessionClassOutcome>,
    /// By level of the load, in its order; empty where there is one.
    pub levels: Vec<SessionLevelOutcome>,
    /// By class and interval, where that was asked for.
    pub intervals: Vec<SessionIntervalOutcome>,
    /// Sessions that started and were completed, per second, all classes together.
    pub throughput: MeanEstimate,
    /// Sessions per second that an admission can complete at most that knows what comes, all classes together.
    pub bound: MeanEstimate,
    /// Completed sessions over that.
    pub of_bound: MeanEstimate,
    /// The share of the server's processors' time in which they worked.
    pub utilization: MeanEstimate,
    /// How many replications there were.
    pub replications: u32,
    /// The time, in seconds, in which the sessions of a replication started.
    pub duration: f64,
    /// Things that happened, warm-up included.
    pub events: u64,
    /// Things that happened per second and core.
    pub events_per_second: f64,
    /// What it took, in seconds.
    pub elapsed: f64,
    /// Whether it is as precise as it was to be.
    pub precision: Precision,
}

/// What came of sessions that started, and of requests that were sent, while a level of the load was held.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionLevelOutcome {
    /// Sessions per second.
    pub level: f64,
    /// From when on, in seconds from the end of the warm-up.
    pub from: f64,
    /// By class, in the order of the workload.
    pub classes: Vec<SessionClassOutcome>,
}

/// The same in a short time, of all replications together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionIntervalOutcome {
    /// From when on, in seconds from the end of the warm-up.
    pub from: f64,
    /// Of this class.
    pub class: String,
    /// Sessions that started in it.
    pub started: f64,
    /// Of these, those that were completed.
    pub completed: f64,
    /// Requests that were sent once more.
    pub retried: f64,
    /// From request to answer, in seconds, of the requests that were sent in it and answered: 50th percentile.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// What came of the sessions of a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionClassOutcome {
    /// Its name in the workload.
    pub name: String,
    /// Sessions of a replication.
    pub started: MeanEstimate,
    /// Of these, those whose every request was answered in time.
    pub completed: MeanEstimate,
    /// Those that ended with a refusal.
    pub refused: MeanEstimate,
    /// Those that ended because an answer took too long.
    pub timed_out: MeanEstimate,
    /// Requests that users sent once more.
    pub retried: MeanEstimate,
    /// Completed sessions over started ones.
    pub completion: MeanEstimate,
    /// The share of them that can be completed at most, those of the more important classes first.
    pub bound: MeanEstimate,
    /// From request to answer, in seconds, of the requests that were answered.
    pub response: LatencyOutcome,
    /// How long completed sessions took, in seconds, without their pauses.
    pub session: LatencyOutcome,
}

impl SessionsOutcome {
    pub(super) fn new(model: &SessionModel, done: &[Replication], intervals: &Intervals) -> Self {
        let duration = model.duration.as_secs_f64();
        let completed = |replication: &Replication| -> f64 {
            replication.classes.iter().map(|class| class.completed).sum()
        };
        let events: u64 = done.iter().map(|replication| replication.events).sum();
        let took: f64 = done.iter().map(|replication| replication.took.as_secs_f64()).sum();
        let summaries: Vec<&[Summary]> = done.iter().map(|replication| &replication.classes[..]).collect();
        let bounds = bounds(model, &summaries, duration);
        let totals = || bounds.iter().map(|bound| bound.iter().sum::<f64>());
        Self {
            classes: by_class(model, &summaries, &bounds),
            levels: levels(model, done),
            intervals: of_intervals(model, intervals),
            throughput: MeanEstimate::of(done.iter().map(|replication| completed(replication) / duration)),
            bound: MeanEstimate::of(totals().map(|bound| bound / duration)),
            of_bound: MeanEstimate::of(
                done.iter().zip(totals()).map(|(done, bound)| completed(done) / bound),
            ),
            utilization: MeanEstimate::of(done.iter().map(|replication| replication.utilization)),
            replications: done.len() as u32,
            duration,
            events,
            events_per_second: events as f64 / took,
            elapsed: 0.0,
            precision: Precision::Fixed,
        }
    }

    /// Whether each class's share of completed sessions is known to `wanted`. It is a share already, so
    /// half its interval is held to that, not to a part of itself.
    pub(super) fn judge(&self, wanted: f64, most: u32) -> Precision {
        let widths = self.classes.iter().map(|class| class.completion.half_width());
        let widest = widths.filter(|width| !width.is_nan()).fold(0.0, f64::max);
        if widest <= wanted {
            return Precision::Reached;
        }
        let each = self.events as f64 / self.events_per_second / f64::from(self.replications);
        let replications = f64::from(self.replications) * (widest / wanted).powi(2);
        let replications = replications.ceil().max(f64::from(most));
        Precision::Missed {
            relative: widest,
            replications: replications as u64,
            seconds: each * replications,
        }
    }
}

impl SessionClassOutcome {
    fn new(name: &str, done: &[&Summary], bounds: impl Iterator<Item = f64>) -> Self {
        let over = |value: fn(&Summary) -> f64| MeanEstimate::of(done.iter().map(|summary| value(summary)));
        Self {
            name: name.to_owned(),
            started: over(|summary| summary.started),
            completed: over(|summary| summary.completed),
            refused: over(|summary| summary.refused),
            timed_out: over(|summary| summary.timed_out),
            retried: over(|summary| summary.retried),
            completion: over(|summary| summary.completed / summary.started),
            bound: MeanEstimate::of(done.iter().zip(bounds).map(|(summary, bound)| bound / summary.started)),
            response: latency(done.iter().map(|summary| summary.response)),
            session: latency(done.iter().map(|summary| summary.duration)),
        }
    }
}

/// What could have been completed at most in so many seconds, by replication, then by class.
fn bounds(model: &SessionModel, done: &[&[Summary]], seconds: f64) -> Vec<Vec<f64>> {
    let at_most = |classes: &&[Summary]| {
        let started: Vec<f64> = classes.iter().map(|class| class.started).collect();
        completed_at_most(model, &started, seconds)
    };
    done.iter().map(at_most).collect()
}

fn by_class(model: &SessionModel, done: &[&[Summary]], bounds: &[Vec<f64>]) -> Vec<SessionClassOutcome> {
    let classes = model.script.classes.iter().enumerate().map(|(index, name)| {
        let summaries: Vec<&Summary> = done.iter().filter_map(|classes| classes.get(index)).collect();
        let bounds = bounds.iter().filter_map(|bound| bound.get(index).copied());
        SessionClassOutcome::new(name, &summaries, bounds)
    });
    classes.collect()
}

fn levels(model: &SessionModel, done: &[Replication]) -> Vec<SessionLevelOutcome> {
    let number = done.first().map_or(0, |replication| replication.levels.len());
    let mut end = 0.0;
    let levels = model.levels().into_iter().take(number).enumerate().map(|(index, level)| {
        let (from, seconds) = (end, level.hold.as_secs_f64());
        end = from + seconds;
        let summaries: Vec<&[Summary]> =
            done.iter().filter_map(|done| done.levels.get(index)).map(Vec::as_slice).collect();
        let classes = by_class(model, &summaries, &bounds(model, &summaries, seconds));
        SessionLevelOutcome { level: level.level, from, classes }
    });
    levels.collect()
}

fn of_intervals(model: &SessionModel, intervals: &Intervals) -> Vec<SessionIntervalOutcome> {
    let Some(length) = model.interval else { return Vec::new() };
    let each = intervals.0.iter().enumerate().flat_map(|(index, classes)| {
        model.script.classes.iter().zip(classes).map(move |(name, tally)| {
            let Summary { started, completed, retried, response, .. } = tally.summary();
            let from = length.as_secs_f64() * index as f64;
            let Digest { p50, p99, .. } = response;
            SessionIntervalOutcome { from, class: name.to_string(), started, completed, retried, p50, p99 }
        })
    });
    each.collect()
}

fn latency(digests: impl Iterator<Item = Digest> + Clone) -> LatencyOutcome {
    let over = |value: fn(Digest) -> f64| MeanEstimate::of(digests.clone().map(value));
    LatencyOutcome {
        mean: over(|digest| digest.mean),
        p50: over(|digest| digest.p50),
        p90: over(|digest| digest.p90),
        p95: over(|digest| digest.p95),
        p99: over(|digest| digest.p99),
        p999: over(|digest| digest.p999),
    }
}

impl fmt::Display for SessionClassOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, started, completed, refused, timed_out, .. } = self;
        write!(
            f,
            "  {name:<12} {} completed: {} of {} sessions; {} refused, {} timed out",
            Percent(&self.completion),
            Plain(completed),
            Plain(started),
            Plain(refused),
            Plain(timed_out),
        )?;
        if self.retried.mean > 0.0 {
            write!(f, "; {} requests sent again", Plain(&self.retried))?;
        }
        writeln!(f)?;
        writeln!(f, "  {:<12} response {}", "", self.response)?;
        writeln!(f, "  {:<12} session  {}", "", self.session)
    }
}

impl fmt::Display for SessionsOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for SessionLevelOutcome { level, from, classes } in &self.levels {
            writeln!(f, "  {level} sessions/s from {from} s on")?;
            classes.iter().try_for_each(|class| class.fmt(f))?;
        }
        if !self.levels.is_empty() {
            writeln!(f, "  all of them")?;
        }
        self.classes.iter().try_for_each(|class| class.fmt(f))?;
        writeln!(f, "  throughput   {} completed sessions/s", Plain(&self.throughput))?;
        writeln!(
            f,
            "  bound        {} of the {} that an admission could complete that knows what comes",
            Percent(&self.of_bound),
            Plain(&self.bound),
        )?;
        writeln!(f, "  utilization  {}", Percent(&self.utilization))?;
        writeln!(
            f,
            "  {} replications of {} s; {:.1} M events, {:.1} M per second and core, {:.2} s",
            self.replications,
            self.duration,
            self.events as f64 / 1e6,
            self.events_per_second / 1e6,
            self.elapsed,
        )?;
        Missed(self.precision).fmt(f)
    }
}
