//! [`run`]: a run from its beginning to its end.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use record::{
    AddressSummary, ClientSummary, ConnectionSummary, CounterSet, Counters, Environment, Quantiles,
    RateSummary, RefusedAddress, RunDirectory, RunInfo, Summary, Timestamp,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};
use telemetry::Endpoint;
use units::{Rate, Span, Time};

use crate::client::setup::Setup;
use crate::engine::clock::Clock;
use crate::engine::share::Share;
use crate::error::Error;
use crate::measure::recorder::Figures;
use crate::measure::steps::Telling;
use crate::measure::validity::{Observed, judge, judge_starts};
use crate::output::error::OutputError;
use crate::output::latencies::Latencies;
use crate::output::requests::RequestsCsv;
use crate::output::writer::{Files, Writer};
use crate::run::common::Common;
use crate::run::report::Report;
use crate::run::watcher::Watcher;
use crate::run::worker::{Ending, ThreadSnapshot, work};
use crate::schedule::expected::starts;
use crate::settings::options::Options;
use crate::show::snapshot::Setting;
use crate::show::viewers::Viewers;
use tui::be_ordinary;

/// How often the threads are looked at.
const COLLECT_EVERY: Span = Span::from_secs(1);

/// A thread says what it saw at full seconds; a moment later all have.
const AFTER_THREADS: Span = Span::from_millis(20);

/// Puts load on the target and tells what became of it. Returns when it is done, or after
/// SIGINT or SIGTERM; what was measured is written then, too.
///
/// # Errors
/// When it cannot begin, or the record cannot be written. What goes wrong between generator
/// and target is counted, not returned.
pub fn run(options: &Options) -> Result<Report, Error> {
    raise_descriptor_limit();
    Run::prepare(options)?.perform()
}

/// Every connection is a descriptor, and the usual 1024 are soon used up.
fn raise_descriptor_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If it cannot be raised, running out is counted and told.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

struct Run {
    common: Arc<Common>,
    directory: Option<RunDirectory>,
    writer: Option<Writer>,
    info: RunInfo,
    counters: CounterSet,
    endpoint: Option<Endpoint>,
    latencies: Latencies,
    /// What the collector did not get, and why.
    untold: Option<String>,
    /// Why it ended before its time.
    stopped: Option<String>,
}

impl Run {
    fn prepare(options: &Options) -> Result<Self, Error> {
        let setup = Setup::prepare(options)?;
        let endpoint = options.metrics.map(Endpoint::bind).transpose()?;
        let directory = options.out.as_ref().map(RunDirectory::create).transpose()?;
        let environment = Environment::capture();
        if let Some(directory) = &directory {
            directory.write_environment(&environment)?;
        }
        let latencies = Latencies::create(&options.exports)?;
        let csv = options.exports.requests_csv.as_deref().map(RequestsCsv::create).transpose()?;
        let files = Files::create(directory.as_ref(), csv)?;
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM] {
            signal_hook::flag::register_usize(number, Arc::clone(&signal), number.unsigned_abs() as usize)?;
        }
        let counters = CounterSet::read();
        let info = RunInfo {
            tool: "load".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: options.command.clone(),
            started: Timestamp::now(),
            ended: None,
            interrupted: false,
            seed: options.seed,
            window: options.window(),
            steps: options.ramp_steps(),
            step_unit: options.ramp().map(|(_, unit)| unit.to_owned()),
            spec: options.spec(),
        };
        let clock = Clock::start();
        if let Some(directory) = &directory {
            directory.write_info(&info)?;
        }
        let writer = files.map(|files| Writer::start(files, info.started, &environment.host));
        let common = Arc::new(Common {
            setup,
            clock,
            signal,
            closed: AtomicU64::new(0),
            unsettled: AtomicU32::new(options.threads.get()),
        });
        Ok(Self {
            common,
            directory,
            writer,
            info,
            counters,
            endpoint,
            latencies,
            untold: None,
            stopped: None,
        })
    }

    fn perform(mut self) -> Result<Report, Error> {
        let (done, endings) = channel();
        let threads = self.common.setup.options.threads.get();
        let snapshots: Vec<Arc<Mutex<ThreadSnapshot>>> = (0..threads).map(|_| Arc::default()).collect();
        for (snapshot, number) in snapshots.iter().zip(0..) {
            let (common, snapshot, done) = (Arc::clone(&self.common), Arc::clone(snapshot), done.clone());
            let rows = self.writer.as_ref().map(Writer::rows);
            std::thread::Builder::new().name(format!("load-{number}")).spawn(move || {
                let ending = work(&common, Share { number, of: threads }, &snapshot, rows);
                // When the run has failed, the other end is gone.
                let _ = done.send(ending);
            })?;
        }
        drop(done);
        be_ordinary();
        let (figures, endings) = self.watch(&snapshots, &endings)?;
        let now = self.common.clock.now();
        Ok(self.finish(&figures, &endings, now))
    }

    /// Looks at the threads once a second until all have ended.
    fn watch(
        &mut self,
        snapshots: &[Arc<Mutex<ThreadSnapshot>>],
        ended: &Receiver<std::io::Result<Ending>>,
    ) -> Result<(Figures, Vec<Ending>), Error> {
        let common = Arc::clone(&self.common);
        let options = &common.setup.options;
        let setting = Setting {
            target: options.target.to_string(),
            load: options.load_in_words(),
            window: self.info.window,
            sessions: options.has_sessions(),
        };
        let collector = options.collector.clone();
        let mut show = Viewers::start(setting, options.view, self.endpoint.take(), collector);
        let mut watcher = Watcher::new(&common);
        let mut endings = Vec::new();
        let mut next = Time::ZERO + COLLECT_EVERY + AFTER_THREADS;
        while endings.len() < snapshots.len() {
            let now = common.clock.now();
            match ended.recv_timeout(Duration::from(next.since(now))) {
                Ok(ending) => endings.push(ending?),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    next += COLLECT_EVERY;
                    watcher.collect(snapshots, &mut show, self.writer.as_mut())?;
                    if watcher.stopped.is_some() || self.writer.as_ref().is_some_and(Writer::has_failed) {
                        common.signal.store(usize::MAX, Ordering::Relaxed);
                    }
                }
            }
        }
        show.close();
        if show.is_watched() {
            // What a collector gets last is what the summary says.
            watcher.collect(snapshots, &mut show, None)?;
        }
        self.untold = show.end();
        for snapshot in snapshots {
            watcher.figures.add(&snapshot.lock().unwrap_or_else(PoisonError::into_inner).figures);
        }
        self.stopped = watcher.stopped;
        Ok((watcher.figures, endings))
    }

    /// What was measured is told even when it cannot be written.
    fn finish(mut self, figures: &Figures, endings: &[Ending], now: Time) -> Report {
        let signal =
            u8::try_from(self.common.signal.load(Ordering::Relaxed)).ok().filter(|number| *number > 0);
        // By a signal, by --stop-when, or because the record could not be written.
        let cut_short = self.common.signal.load(Ordering::Relaxed) != 0;
        self.info.ended = Some(Timestamp::now());
        self.info.interrupted = cut_short && self.stopped.is_none();
        let closed = match self.common.closed.load(Ordering::Relaxed) {
            0 => cut_short.then_some(now.as_nanos()),
            closed => Some(closed.min(now.as_nanos())),
        };
        if let Some(closed) = closed {
            // The window closed when the run did, or its last request ended.
            let closed = closed.max(self.info.window.from_ns).min(self.info.window.to_ns);
            self.info.window.to_ns = closed;
            self.info.steps.retain(|step| step.from_ns < closed);
            if let Some(last) = self.info.steps.last_mut() {
                last.to_ns = last.to_ns.min(closed);
            }
        }
        let written = self.writer.take().map_or(Ok(()), Writer::finish);
        let summary = self.summary(figures, endings, cut_short);
        let completed = self.complete_record(&summary);
        let exported = std::mem::take(&mut self.latencies).write(&figures.inside.phases);
        let unwritten = written.and(completed.map_err(OutputError::from)).and(exported).err();
        let tried = figures.last_refusal.clone();
        let classes = self.common.setup.plan.session_classes();
        Report {
            signal,
            never_connected: tried.filter(|_| !figures.ever_connected),
            title: self.common.setup.options.title(),
            unwritten,
            percentiles: self.common.setup.options.percentiles.clone(),
            untold: self.untold,
            scheduled: self.common.setup.options.offered().is_some(),
            classes: classes.iter().map(|class| class.name.to_string()).collect(),
            summary,
        }
    }

    fn complete_record(&self, summary: &Summary) -> Result<(), record::Error> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let counters = Counters { before: self.counters.clone(), after: CounterSet::read() };
        directory.write_counters(&counters)?;
        directory.write_summary(summary)?;
        directory.write_info(&self.info)
    }

    fn summary(&self, figures: &Figures, endings: &[Ending], cut_short: bool) -> Summary {
        let tally = &figures.inside;
        let window = self.info.window;
        let (plan, options) = (&self.common.setup.plan, &self.common.setup.options);
        let objectives = options.objectives.iter();
        let done = figures.done(plan.has_sessions);
        let achieved = Rate::of(done, window.length()).as_f64();
        let rate = (!window.length().is_zero()).then_some(achieved);
        let offered = options.offered_in(&self.info.steps).map_or(achieved, Rate::as_f64);
        let most = |figure: fn(&Ending) -> f64| endings.iter().map(figure).fold(0.0, f64::max);
        let cpu = most(|ending| ending.cpu);
        let waited = most(|ending| ending.waited);
        let mut why_invalid = judge(&Observed {
            cpu,
            waited,
            lag: &figures.lag,
            window,
            lacked: figures.lacked,
            issued: cut_short || endings.iter().all(|ending| ending.issued),
            poisson: endings.iter().filter_map(|ending| ending.poisson).min_by(f64::total_cmp),
        });
        if let Some(expected) = starts(options).filter(|_| !cut_short && options.count.is_none()) {
            let (completed, lost) = tally.session_ends();
            let begun = if plan.has_sessions { completed + lost } else { tally.requests - tally.hops };
            why_invalid.extend(judge_starts(begun, expected, plan.classes.len()));
        }
        let mut summary = Summary {
            requests: tally.requests,
            responses: tally.responses,
            bytes: tally.bytes,
            duration: window.length().as_secs_f64(),
            rate: RateSummary { offered, achieved },
            status: tally.status.clone(),
            errors: tally.errors,
            error_details: tally.error_details(),
            censored: tally.censored,
            latency: tally.phases.summary(&options.percentiles),
            sessions: tally.sessions(plan.session_classes().iter().map(|class| &*class.name)),
            client: ClientSummary {
                cpu,
                waited,
                without_port: figures.lacked.ports,
                lag: Quantiles::of(&figures.lag),
                valid: why_invalid.is_empty(),
                why_invalid,
            },
            connections: ConnectionSummary {
                opened: tally.opened,
                reused: tally.reused,
                syn_retransmits: tally.syn_retransmits,
                waits: figures.waits,
                limit: options.limit(),
                queued: figures.queued,
                needed: None,
            },
            address: self.address(),
            interrupted: self.info.interrupted,
            stopped: self.stopped.clone(),
            steps: figures.steps.summary(&self.info.steps, &self.telling()),
            objectives: objectives.map(|objective| objective.judge(tally, rate)).collect(),
        };
        summary.connections.needed = self.needed(&summary);
        summary
    }

    /// How the steps of its ramp are told.
    fn telling(&self) -> Telling<'_> {
        let options = &self.common.setup.options;
        Telling {
            unit: options.ramp().map_or("", |(_, unit)| unit),
            open: options.offered().is_some(),
            sessions: options.has_sessions(),
            percentiles: &options.percentiles,
            objectives: &options.objectives,
        }
    }

    /// How many requests there would have had to be room for.
    fn needed(&self, summary: &Summary) -> Option<u32> {
        let limit = summary.connections.limit.filter(|_| summary.connections.queued > 0)?;
        let latency = &summary.latency;
        // Little's law; and arrivals that do not come one after the other are sometimes more at once (of Poisson
        // arrivals, one in a thousand finds as many under way).
        let mean = summary.rate.offered * (latency.total.mean - latency.queued.mean);
        let bursts = if self.common.setup.options.has_constant_arrivals() { 0.0 } else { 3.0 * mean.sqrt() };
        Some(((mean + bursts).ceil() as u32).max(limit.saturating_add(1)))
    }

    fn address(&self) -> AddressSummary {
        let choice = &self.common.setup.choice;
        let refused = choice.refused.iter();
        AddressSummary {
            taken: choice.taken.to_string(),
            refused: refused
                .map(|(address, reason)| RefusedAddress {
                    address: address.to_string(),
                    reason: reason.clone(),
                })
                .collect(),
        }
    }
}
