//! [`Watcher`]: looks at all threads, for views and samples.

use std::sync::{Arc, Mutex, PoisonError};

use catalogue::load::{self as metrics, recorded};
use record::{ObjectiveResult, Window};
use stats::Histogram;
use units::{Rate, Span, Time};

use crate::measure::aggregate::Aggregate;
use crate::measure::phase::Phase;
use crate::measure::recorder::Figures;
use crate::measure::validity::{Observed, judge};
use crate::output::writer::Writer;
use crate::run::common::Common;
use crate::run::stopping::Stopping;
use crate::run::worker::ThreadSnapshot;
use crate::settings::options::Options;
use crate::show::snapshot::{Generator, Latencies, Level, Recent, Snapshot, Whole};
use crate::show::viewers::Viewers;

pub(crate) struct Watcher<'a> {
    options: &'a Options,
    window: Window,
    /// Everything so far.
    pub(crate) figures: Figures,
    /// When anything was last taken.
    before: Time,
    /// When a thread last said something, and what it had used of a processor.
    before_by_thread: Vec<(Time, Span)>,
    /// What was taken last; cleared, and changed for what a thread has seen.
    given: Figures,
    recent: Aggregate,
    lag: Histogram,
    stopping: Stopping,
    /// Why the run is over before its time.
    pub(crate) stopped: Option<String>,
}

/// What the threads have under way now, together.
#[derive(Debug, Clone, Copy, Default)]
struct Gauges {
    running: u64,
    connections: u64,
    /// Share of a processor that the busiest of them used lately.
    cpu: f64,
}

impl<'a> Watcher<'a> {
    pub(crate) fn new(common: &'a Common) -> Self {
        let options = &common.setup.options;
        Self {
            options,
            window: options.window(),
            figures: Figures::default(),
            before: Time::ZERO,
            before_by_thread: vec![(Time::ZERO, Span::ZERO); options.threads.get() as usize],
            given: Figures::default(),
            recent: Aggregate::default(),
            lag: Histogram::new(),
            stopping: Stopping::new(options),
            stopped: None,
        }
    }

    /// Takes what the threads have seen, and passes it on.
    ///
    /// # Errors
    /// When samples cannot be written.
    pub(crate) fn collect(
        &mut self,
        snapshots: &[Arc<Mutex<ThreadSnapshot>>],
        show: &mut Viewers,
        writer: Option<&mut Writer>,
    ) -> Result<(), record::Error> {
        let watched = writer.is_some() || show.is_watched() || self.stopping.is_watching();
        let (mut gauges, mut latest, mut done) = (Gauges::default(), self.before, 0);
        let sessions = self.options.has_sessions();
        self.recent.clear();
        self.lag.clear();
        for (snapshot, before) in snapshots.iter().zip(&mut self.before_by_thread) {
            let mut snapshot = snapshot.lock().unwrap_or_else(PoisonError::into_inner);
            gauges.running += snapshot.running;
            gauges.connections += snapshot.connections;
            if !std::mem::take(&mut snapshot.fresh) {
                continue;
            }
            std::mem::swap(&mut snapshot.figures, &mut self.given);
            let (at, used) = std::mem::replace(before, (snapshot.at, snapshot.cpu));
            let cpu = snapshot.cpu.saturating_sub(used).as_secs_f64() / snapshot.at.since(at).as_secs_f64();
            gauges.cpu = gauges.cpu.max(cpu);
            latest = latest.max(snapshot.at);
            drop(snapshot);
            if watched {
                self.recent.add(&self.given.inside);
                self.recent.add(&self.given.outside);
                self.lag.add(&self.given.lag);
            }
            done += self.given.done(sessions);
            self.figures.add(&self.given);
            self.given.clear();
        }
        let elapsed = latest.since(self.before);
        if elapsed.is_zero() || !watched {
            return Ok(());
        }
        let stretch = (std::mem::replace(&mut self.before, latest), latest);
        if self.stopped.is_none() {
            let rate = Rate::of(done, elapsed).as_f64();
            // A session under way may pause.
            let waiting = if sessions { 0 } else { gauges.running };
            self.stopped = self.stopping.see(stretch, &self.recent, rate, waiting);
        }
        let (both, lag) = (&self.recent, self.lag.quantile(0.99));
        if let Some(writer) = writer {
            let per_second = |count: u64| Rate::of(count, elapsed).as_f64();
            for (metric, value) in [
                (recorded::RESPONSES, per_second(both.responses)),
                (recorded::ERRORS, per_second(both.errors.total())),
                (metrics::RUNNING, gauges.running as f64),
                (metrics::CONNECTIONS_OPEN, gauges.connections as f64),
                (recorded::CONNECTIONS_OPENED, per_second(both.opened)),
                (recorded::SYN_RETRANSMITS, per_second(both.syn_retransmits)),
                (recorded::CONNECT_TIMEOUTS, per_second(both.connect_timeouts)),
                (metrics::CPU, gauges.cpu),
                (recorded::LAG_P99, lag.as_secs_f64()),
            ] {
                writer.sample(latest, metric, value)?;
            }
        }
        if show.is_watched() {
            show.see(self.snapshot(latest, elapsed, both, gauges));
        }
        Ok(())
    }

    fn snapshot(&self, now: Time, elapsed: Span, recent: &Aggregate, gauges: Gauges) -> Snapshot {
        let Gauges { running, connections, cpu } = gauges;
        let (figures, whole) = (&self.figures, &self.figures.inside);
        let (sessions_completed, sessions_lost) = recent.session_ends();
        // Most of the time since the snapshot before belongs to it.
        let done_inside = figures.done(self.options.has_sessions());
        let level = self.level(now - elapsed / 2);
        let rate = level.and_then(|level| Rate::per_second(level.value));
        Snapshot {
            now,
            elapsed,
            offered: self.options.offered().map(|mean| rate.unwrap_or(mean)),
            level,
            running,
            connections,
            recent: Recent {
                requests: recent.requests,
                responses: recent.responses,
                bytes: recent.bytes,
                errors: recent.errors,
                sessions_completed,
                sessions_lost,
                latency: latencies(recent),
            },
            whole: Whole {
                requests: whole.requests,
                bytes: whole.bytes,
                errors: whole.errors,
                status: whole.status.clone(),
                censored: whole.censored,
                done_inside,
                opened: whole.opened,
                reused: whole.reused,
                syn_retransmits: whole.syn_retransmits,
                connect_timeouts: whole.connect_timeouts,
                latency: latencies(whole),
            },
            objectives: self.objectives(now),
            generator: Generator {
                cpu,
                lag_p99: figures.lag.quantile(0.99),
                lag_max: figures.lag.max(),
                why_invalid: judge(&Observed {
                    cpu,
                    waited: 0.0,
                    lag: &figures.lag,
                    window: self.window,
                    lacked: figures.lacked,
                    issued: true,
                    poisson: None,
                }),
            },
        }
    }

    /// How each objective stands, from the window up to `now`.
    fn objectives(&self, now: Time) -> Vec<ObjectiveResult> {
        let measured = now.as_nanos().min(self.window.to_ns).saturating_sub(self.window.from_ns);
        let rate =
            Rate::of(self.figures.done(self.options.has_sessions()), Span::from_nanos(measured)).as_f64();
        let rate = (measured > 0).then_some(rate);
        let objectives = self.options.objectives.iter();
        objectives.map(|objective| objective.judge(&self.figures.inside, rate)).collect()
    }

    fn level(&self, now: Time) -> Option<Level> {
        let (ramp, unit) = self.options.ramp()?;
        let steps = self.options.steps(ramp);
        let index = steps.iter().position(|step| now.as_nanos() < step.to_ns).unwrap_or(steps.len() - 1);
        let value = steps.get(index)?.level;
        Some(Level { number: index + 1, of: steps.len(), value, unit })
    }
}

fn latencies(tally: &Aggregate) -> Latencies {
    Latencies {
        total: tally.phases.of(Phase::Total).clone(),
        connect: tally.phases.of(Phase::Connect).clone(),
        processing: tally.phases.of(Phase::Processing).clone(),
        transfer: tally.phases.of(Phase::Transfer).clone(),
    }
}
