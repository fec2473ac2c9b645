//! [`run`]: a run from its beginning to its end.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use record::{
    ClientSummary, ConnectionSummary, CounterSet, Counters, Environment, RateSummary, RunDirectory, RunInfo,
    Summary, Timestamp, Window,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval};
use traffic::Schedule;
use units::{Rate, Span, Time};

use crate::alarms::Alarms;
use crate::clock::{Clock, thread_cpu, thread_waited};
use crate::engine::Engine;
use crate::generate::{closed_loop, open_loop};
use crate::plan::Plan;
use crate::progress::{Glance, Progress};
use crate::recorder::Recorder;
use crate::validity::{Observed, judge};
use crate::{Error, Load, Options, Report};

/// How often progress is shown and samples are taken.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Beyond the longest session: the server's answer to a timeout, and the generator's own time.
const DRAIN_MARGIN: Span = Span::from_secs(1);

/// Puts load on the target and tells what became of it. Runs on this thread until it is done,
/// or until SIGINT or SIGTERM; then what was measured is written all the same.
///
/// # Errors
/// When it cannot begin, or the record cannot be written. What goes wrong between generator
/// and target is counted, not returned.
pub fn run(options: &Options) -> Result<Report, Error> {
    raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(Run::prepare(options)).and_then(|run| runtime.block_on(run.perform()))
}

/// Every connection is a descriptor, and the usual 1024 are soon used up.
fn raise_descriptor_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If it cannot be raised, running out is counted and told.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

struct Run<'a> {
    options: &'a Options,
    engine: Rc<Engine>,
    cpu: CpuMeter,
    directory: Option<RunDirectory>,
    info: RunInfo,
    counters: CounterSet,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Finished,
    Signal(u8),
    RecordFailed,
}

impl<'a> Run<'a> {
    async fn prepare(options: &'a Options) -> Result<Self, Error> {
        let address = options.target.resolve().await?;
        let plan = Plan::new(options);
        plan.check_sources(address)?;
        let window = Window::new(Time::ZERO + options.warmup, options.duration);
        let mut recorder = Recorder::new(window, plan.session_classes().iter().map(|class| &*class.name));
        let directory = options.out.as_ref().map(RunDirectory::create).transpose()?;
        let info = RunInfo {
            tool: "load".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: options.command.clone(),
            started: Timestamp::now(),
            ended: None,
            interrupted: false,
            seed: options.seed,
            window,
            step_unit: None,
            steps: Vec::new(),
            spec: options.spec(),
        };
        if let Some(directory) = &directory {
            let environment = Environment::capture();
            directory.write_info(&info)?;
            directory.write_environment(&environment)?;
            recorder.write_to(directory, &environment.host)?;
        }
        let counters = CounterSet::read();
        let clock = Clock::start();
        let alarms = Alarms::new(clock)?;
        let requests = options.requests_per_connection;
        let engine = Rc::new(Engine::new(clock, alarms, address, plan, requests, window, recorder));
        Ok(Self { options, engine, cpu: CpuMeter::default(), directory, info, counters })
    }

    async fn perform(self) -> Result<Report, Error> {
        let tasks = LocalSet::new();
        let end = tasks.run_until(self.conduct()).await?;
        let now = self.engine.clock.now();
        // Whatever is under way writes its row as it is dropped.
        drop(tasks);
        self.finish(end, now)
    }

    async fn conduct(&self) -> io::Result<End> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        match self.options.load {
            Load::Open { rate, process } => {
                let shares: Vec<f64> = self.engine.plan.classes.iter().map(|class| class.share).collect();
                let schedule =
                    Schedule::new(process, &traffic::Profile::constant(rate), &shares, self.options.seed);
                tokio::task::spawn_local(open_loop(Rc::clone(&self.engine), schedule));
            }
            Load::Closed { clients } => closed_loop(&self.engine, clients),
        }
        Ok(tokio::select! {
            error = self.engine.alarms.run() => return Err(error),
            _ = interrupt.recv() => End::Signal(2),
            _ = terminate.recv() => End::Signal(15),
            () = self.keep_time() => End::Finished,
            () = self.look() => End::RecordFailed,
        })
    }

    /// Returns when all that began in the window has ended, or has had its time.
    async fn keep_time(&self) {
        let engine = &self.engine;
        engine.alarms.until(Time::from_nanos(engine.window.from_ns)).await;
        self.cpu.begin(engine.clock);
        let closes = Time::from_nanos(engine.window.to_ns);
        engine.alarms.until(closes).await;
        self.cpu.end(engine.clock);
        let drain = self.options.drain.unwrap_or_else(|| engine.plan.longest() + DRAIN_MARGIN);
        tokio::select! {
            () = engine.settled() => {}
            () = engine.alarms.until(closes + drain) => {}
        }
    }

    /// Shows progress and takes samples; returns when the record cannot be written.
    async fn look(&self) {
        let engine = &self.engine;
        let progress = self.options.progress.then(|| Progress::new(engine.window, engine.plan.has_sessions));
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        let (mut before, mut cpu_before) = (engine.clock.now(), thread_cpu());
        while !engine.recorder.borrow().has_failed() {
            ticks.tick().await;
            let (now, cpu) = (engine.clock.now(), thread_cpu());
            let elapsed = now.since(before);
            let recent = engine.recorder.borrow_mut().take_recent();
            if let Some(progress) = &progress {
                progress.show(&Glance { now, elapsed, running: engine.running(), recent: &recent });
            }
            let mut recorder = engine.recorder.borrow_mut();
            for (metric, value) in [
                ("responses_per_second", Rate::of(recent.responses, elapsed).as_f64()),
                ("errors_per_second", Rate::of(recent.errors, elapsed).as_f64()),
                ("running", engine.running() as f64),
                ("cpu_ratio", cpu.saturating_sub(cpu_before).as_secs_f64() / elapsed.as_secs_f64()),
            ] {
                recorder.sample(now, metric, value);
            }
            (before, cpu_before) = (now, cpu);
        }
    }

    fn finish(mut self, end: End, now: Time) -> Result<Report, Error> {
        let signal = if let End::Signal(number) = end { Some(number) } else { None };
        if self.options.progress {
            Progress::new(self.engine.window, self.engine.plan.has_sessions).clear();
        }
        self.info.ended = Some(Timestamp::now());
        self.info.interrupted = signal.is_some();
        if signal.is_some() {
            // The window closed when the run did.
            let closed = now.as_nanos().max(self.info.window.from_ns).min(self.info.window.to_ns);
            self.info.window.to_ns = closed;
            self.cpu.end(self.engine.clock);
        }
        let mut recorder = self.engine.recorder.borrow_mut();
        let written = recorder.finish();
        let summary = self.summary(&recorder, signal.is_some());
        if let Some(directory) = &self.directory {
            let counters = Counters { before: self.counters.clone(), after: CounterSet::read() };
            directory.write_counters(&counters)?;
            directory.write_summary(&summary)?;
            directory.write_info(&self.info)?;
        }
        written?;
        let tried = recorder.last_refusal.clone();
        let classes = self.engine.plan.session_classes();
        Ok(Report {
            signal,
            never_connected: tried.filter(|_| !recorder.ever_connected),
            title: self.options.title(),
            classes: classes.iter().map(|class| class.name.to_string()).collect(),
            summary,
        })
    }

    fn summary(&self, recorder: &Recorder, interrupted: bool) -> Summary {
        let tally = &recorder.tally;
        let window = self.info.window;
        let done = if self.engine.plan.has_sessions { tally.sessions_inside } else { tally.responses_inside };
        let achieved = Rate::of(done, window.length()).as_f64();
        let offered = match self.options.load {
            Load::Open { rate, .. } => rate.as_f64(),
            Load::Closed { .. } => achieved,
        };
        let (cpu, waited) = self.cpu.shares();
        let why_invalid = judge(&Observed {
            cpu,
            waited,
            lag: recorder.lags(),
            window,
            exhausted: recorder.exhausted,
            issued: interrupted || self.engine.is_issued(),
        });
        let mut summary = Summary {
            requests: tally.requests,
            responses: tally.responses,
            bytes: tally.bytes,
            duration: window.length().as_secs_f64(),
            rate: RateSummary { offered, achieved },
            status: tally.status.clone(),
            errors: tally.errors,
            censored: tally.censored,
            latency: tally.latency(),
            sessions: tally.sessions(),
            client: ClientSummary {
                cpu,
                lag: recorder.lags().quantiles(),
                valid: why_invalid.is_empty(),
                why_invalid,
            },
            connections: ConnectionSummary {
                opened: tally.opened,
                reused: tally.reused,
                syn_retransmits: tally.syn_retransmits,
            },
            interrupted,
            objectives: Vec::new(),
        };
        summary.objectives =
            self.options.objectives.iter().map(|objective| objective.judge(&summary)).collect();
        summary
    }
}

/// What this thread used, and missed, of a processor between two points in time.
#[derive(Debug, Default)]
struct CpuMeter {
    began: Cell<Option<Reading>>,
    ended: Cell<Option<Reading>>,
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    at: Time,
    used: Span,
    waited: Span,
}

impl Reading {
    fn take(clock: Clock) -> Self {
        Self { at: clock.now(), used: thread_cpu(), waited: thread_waited() }
    }
}

impl CpuMeter {
    fn begin(&self, clock: Clock) {
        self.began.set(Some(Reading::take(clock)));
    }

    /// Only the first call counts.
    fn end(&self, clock: Clock) {
        if self.ended.get().is_none() {
            self.ended.set(Some(Reading::take(clock)));
        }
    }

    /// The shares of the time in between that were used and missed; zero when it was never begun.
    fn shares(&self) -> (f64, f64) {
        let (Some(began), Some(ended)) = (self.began.get(), self.ended.get()) else { return (0.0, 0.0) };
        let elapsed = ended.at.since(began.at).as_secs_f64();
        let share = |span: Span| if elapsed > 0.0 { span.as_secs_f64() / elapsed } else { 0.0 };
        (share(ended.used.saturating_sub(began.used)), share(ended.waited.saturating_sub(began.waited)))
    }
}
