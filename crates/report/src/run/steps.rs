//! The levels of load that a run held, and what clients met at each: the figures of Shin, Koh and
//! Won, "Measurement and Analysis of Web Server Response Time", section IV.

use record::{Quantiles, RequestRow, RunInfo, SessionRow};
use stats::Histogram;
use stats::{Estimate, Moments};
use units::Span;

use super::latency::counts_as_latency;
use super::model::{Held, Step, StepPhase, StepSessions, Steps};

#[derive(Debug)]
pub(super) struct Collector {
    unit: String,
    /// When each step was, and which of the levels it is.
    steps: Vec<(record::Step, usize)>,
    levels: Vec<Level>,
    /// Each step by itself, where one level was held more than once, as before and after a surge.
    each: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    level: f64,
    held: Span,
    requests: u64,
    responses: u64,
    responses_inside: u64,
    started: u64,
    completed: u64,
    completed_inside: u64,
    connections: u64,
    timed_out: u64,
    connect: Phase,
    processing: Phase,
    server: Phase,
    transfer: Phase,
    total: Phase,
}

#[derive(Debug)]
struct Phase {
    moments: Moments,
    histogram: Histogram,
}

impl Phase {
    fn new() -> Self {
        Self { moments: Moments::default(), histogram: Histogram::coarse() }
    }

    fn add(&mut self, span: Span) {
        self.moments.add(span.as_secs_f64());
        self.histogram.record(span);
    }

    fn finish(&self) -> StepPhase {
        StepPhase { mean: Estimate::of_moments(&self.moments), quantiles: Quantiles::of(&self.histogram) }
    }
}

impl Collector {
    /// For the steps of a run; one that held none is one step, at the level that it asked for.
    pub(super) fn new(info: &RunInfo, otherwise: (f64, &str)) -> Self {
        let mut steps = info.steps.clone();
        let (level, unit) = otherwise;
        let mut unit = unit.to_owned();
        if steps.is_empty() {
            steps.push(record::Step { from_ns: info.window.from_ns, to_ns: info.window.to_ns, level });
        } else if let Some(named) = &info.step_unit {
            unit.clone_from(named);
        }
        let mut levels: Vec<f64> = steps.iter().map(|step| step.level).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let place = |step: &record::Step| levels.iter().position(|level| *level == step.level);
        let steps: Vec<_> = steps.iter().filter_map(|step| Some((*step, place(step)?))).collect();
        let mut levels: Vec<Level> = levels.into_iter().map(Level::new).collect();
        for (step, place) in &steps {
            levels[*place].held += step.length();
        }
        let are_apart = levels.len() == 1 || levels.len() == steps.len();
        let of_step =
            |(step, _): &(record::Step, usize)| Level { held: step.length(), ..Level::new(step.level) };
        let each = if are_apart { Vec::new() } else { steps.iter().map(of_step).collect() };
        Self { unit, steps, levels, each }
    }

    pub(super) fn request(&mut self, row: &RequestRow) {
        let ended = row.ended();
        self.each(|step, level| {
            level.responses_inside += u64::from(row.error.is_none() && step.contains(ended));
            if step.contains(row.intended) {
                level.request(row);
            }
        });
    }

    pub(super) fn session(&mut self, row: &SessionRow) {
        let ended = row.started_ns + row.duration_ns + row.think_ns;
        self.each(|step, level| {
            level.completed_inside += u64::from(row.completed && step.contains(ended));
            if step.contains(row.started_ns) {
                level.started += 1;
                level.completed += u64::from(row.completed);
            }
        });
    }

    /// Each step, with its level, and with itself alone where levels come back.
    fn each(&mut self, mut change: impl FnMut(&record::Step, &mut Level)) {
        for (index, (step, place)) in self.steps.iter().enumerate() {
            let levels = self.levels.get_mut(*place).into_iter().chain(self.each.get_mut(index));
            levels.for_each(|level| change(step, level));
        }
    }

    pub(super) fn finish(self) -> Steps {
        let ramp = self.levels.len() > 1;
        let held = self.steps.iter().map(|(step, _)| Held {
            from: Span::from_nanos(step.from_ns).as_secs_f64(),
            to: Span::from_nanos(step.to_ns).as_secs_f64(),
            level: step.level,
        });
        Steps {
            unit: self.unit,
            ramp,
            held: held.collect(),
            rows: self.levels.iter().map(Level::finish).collect(),
            each: self.each.iter().map(Level::finish).collect(),
        }
    }
}

impl Level {
    fn new(level: f64) -> Self {
        Self {
            level,
            held: Span::ZERO,
            requests: 0,
            responses: 0,
            responses_inside: 0,
            started: 0,
            completed: 0,
            completed_inside: 0,
            connections: 0,
            timed_out: 0,
            connect: Phase::new(),
            processing: Phase::new(),
            server: Phase::new(),
            transfer: Phase::new(),
            total: Phase::new(),
        }
    }

    fn request(&mut self, row: &RequestRow) {
        self.requests += 1;
        self.responses += u64::from(row.error.is_none());
        if !row.reused {
            self.connections += 1;
            self.timed_out += u64::from(row.syn_retransmits > 0);
        }
        if !counts_as_latency(row) {
            return;
        }
        self.total.add(row.latency());
        if !row.reused {
            self.connect.add(row.connect_ns);
        }
        for (phase, span) in [
            (&mut self.processing, row.processing_ns),
            (&mut self.server, row.server_ns),
            (&mut self.transfer, row.transfer_ns),
        ] {
            if let Some(span) = span {
                phase.add(span);
            }
        }
    }

    fn finish(&self) -> Step {
        let seconds = self.held.as_secs_f64();
        let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        Step {
            level: self.level,
            seconds,
            requests: self.requests,
            responses: self.responses,
            offered: per_second(self.requests),
            achieved: per_second(self.responses_inside),
            sessions: (self.started > 0).then(|| StepSessions {
                started: self.started,
                completed: self.completed,
                offered: per_second(self.started),
                achieved: per_second(self.completed_inside),
                completion: Estimate::share(self.completed, self.started),
            }),
            connections: self.connections,
            timed_out: self.timed_out,
            timeouts: Estimate::share(self.timed_out, self.connections),
            connect: self.connect.finish(),
            processing: self.processing.finish(),
            server: self.server.finish(),
            transfer: self.transfer.finish(),
            total: self.total.finish(),
        }
    }
}
