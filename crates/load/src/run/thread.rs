//! [`work`]: one thread of a run.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use record::Step;
use traffic::model::Model;
use traffic::{Process, Profile, Schedule};
use units::{Rate, Span, Time};

use crate::client::context::Engine;
use crate::client::plan::Plan;
use crate::client::tls::Tls;
use crate::engine::clock::{Clock, thread_cpu, thread_waited};
use crate::engine::reactor::Reactor;
use crate::engine::runtime::Runtime;
use crate::engine::share::Share;
use crate::measure::recorder::{Gaps, Recorder, Rows, Seen};
use crate::schedule::generate::{Clients, Source, Wish, closed_loop, open_loop};
use crate::settings::options::{Load, Options, Script};
use crate::settings::target::Address;

/// How often a thread says what it has seen.
const LOOK_EVERY: Span = Span::from_secs(1);

/// How often a thread looks whether the others are done.
const ASK_EVERY: Span = Span::from_millis(1);

/// Beyond the longest session: the server's answer to a timeout, and the generator's own time.
const DRAIN_MARGIN: Span = Span::from_secs(1);

/// What all threads of a run have in common.
pub(crate) struct Common {
    pub(crate) options: Options,
    pub(crate) clock: Clock,
    pub(crate) address: Address,
    pub(crate) tls: Option<Tls>,
    pub(crate) plan: Arc<Plan>,
    /// The signal that ends the run; 0 while there was none.
    pub(crate) signal: Arc<AtomicUsize>,
    /// Threads with work of the window under way.
    pub(crate) unsettled: AtomicU32,
}

/// What a thread says of itself from time to time.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// What it saw; empty when somebody has looked at it.
    pub(crate) seen: Seen,
    /// Whether it has not been looked at yet.
    pub(crate) fresh: bool,
    /// When it last said something.
    pub(crate) at: Time,
    pub(crate) running: u64,
    pub(crate) connections: u64,
    /// Processor time it has used.
    pub(crate) cpu: Span,
}

/// How a thread ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    /// The share of a processor that it used in the window.
    pub(crate) cpu: f64,
    /// The share of the window in which it could have run but others had the processor.
    pub(crate) waited: f64,
    /// Whether all that the schedule wanted in the window was begun.
    pub(crate) issued: bool,
    /// How likely its starts are Poisson; `None` where they are not meant to be, or too few.
    pub(crate) poisson: Option<f64>,
}

/// Runs this thread's share of the load until it is over.
///
/// # Errors
/// When the kernel refuses what is needed.
pub(crate) fn work(
    common: &Arc<Common>,
    share: Share,
    look: &Arc<Mutex<Look>>,
    rows: Option<SyncSender<Rows>>,
) -> io::Result<Ending> {
    let options = &common.options;
    let reactor = Rc::new(Reactor::new(common.clock, options.backend)?);
    let runtime = Runtime::new(Rc::clone(&reactor));
    let mut recorder = Recorder::new(options.window(), Arc::clone(&common.plan), rows);
    recorder.poisson = gaps(options, share);
    let engine = Rc::new(Engine::new(common, share, reactor, runtime.spawner(), recorder));
    begin(&engine, options);
    engine.spawner.spawn(report(Rc::clone(&engine), Arc::clone(look)));
    let signal = Arc::clone(&common.signal);
    let meter = Rc::new(Meter::default());
    let time = keep_time(Rc::clone(&engine), Arc::clone(common), Rc::clone(&meter));
    runtime.run(time, move || signal.load(Ordering::Relaxed) != 0)?;
    let (cpu, waited) = meter.shares(&engine);
    // The tasks are gone; what was under way has written its row.
    let mut recorder = engine.recorder.borrow_mut();
    recorder.flush();
    let poisson = recorder.poisson.as_ref().and_then(|gaps| gaps.check.verdict());
    let mut rest = Seen::default();
    recorder.swap_seen(&mut rest);
    drop(recorder);
    look.lock().unwrap_or_else(PoisonError::into_inner).seen.add(&rest);
    Ok(Ending { cpu, waited, issued: engine.is_issued(), poisson })
}

fn begin(engine: &Rc<Engine>, options: &Options) {
    let source = Rc::new(match &options.script {
        Script::Url => Source::Url,
        Script::Sessions { .. } => Source::Sessions,
        Script::Trace(_) => Source::Trace(Cell::default()),
        Script::Model(model) => {
            let seed = options.seed.wrapping_add(u64::from(engine.share.number));
            Source::Model(Box::new(RefCell::new(Model::named(model.name(), seed))))
        }
    });
    let mut shares: Vec<f64> = engine.plan.classes.iter().map(|class| class.share).collect();
    match &options.load {
        Load::Open { process, connections, .. } => {
            let most = connections.map(|most| engine.share.part(most));
            let profile = profile(options);
            let (mut seed, mut every) = (options.seed, engine.share);
            if is_split(options, engine.share) {
                shares.iter_mut().for_each(|part| *part /= f64::from(engine.share.of));
                seed ^= u64::from(engine.share.number) << 32;
                every = Share { number: 0, of: 1 };
            }
            let schedule = Schedule::new(*process, &profile, &shares, seed).map(Wish::from);
            let task = open_loop(Rc::clone(engine), source, schedule, (every, most));
            engine.spawner.spawn(task);
        }
        Load::Timed(times) => {
            let plan = Arc::clone(&engine.plan);
            let schedule = Schedule::replaying(times, &shares, options.seed);
            let arrivals = schedule.enumerate().map(move |(index, arrival)| {
                let object = plan.sequence.get(index % plan.sequence.len().max(1)).copied();
                Wish { object, ..Wish::from(arrival) }
            });
            let task = open_loop(Rc::clone(engine), source, arrivals, (engine.share, None));
            engine.spawner.spawn(task);
        }
        Load::Closed { clients, think, .. } => {
            let steps = options.ramp().map(|(ramp, _)| options.steps(ramp)).unwrap_or_default();
            let depth = options.protocol.pipeline.map_or(1, |depth| depth.get());
            engine.reactor.batch(engine.share.part(*clients).saturating_mul(depth));
            let clients = Clients { most: *clients, steps, think: *think, seed: options.seed, depth };
            closed_loop(engine, &source, clients);
        }
    }
}

/// Whether each thread has arrivals of its own: several Poisson processes make one. All other
/// processes are dealt out, arrival by arrival.
fn is_split(options: &Options, share: Share) -> bool {
    share.of > 1 && matches!(options.load, Load::Open { process: Process::Poisson, .. })
}

/// The rate over the run: during the warm-up that of the first step, after the window that of
/// the last.
fn profile(options: &Options) -> Profile {
    match &options.load {
        Load::Open { ramp: Some(ramp), .. } => {
            let mut before = options.warmup;
            Profile::steps(ramp.levels().into_iter().filter_map(|level| {
                let hold = ramp.hold() + std::mem::take(&mut before);
                Some((hold, Rate::per_second(level)?))
            }))
        }
        Load::Open { rate, .. } => Profile::constant(*rate),
        Load::Timed(_) | Load::Closed { .. } => Profile::steps([]),
    }
}

/// What watches whether arrivals are Poisson, where they should be.
fn gaps(options: &Options, share: Share) -> Option<Gaps> {
    let Load::Open { process: Process::Poisson, rate, ramp, .. } = &options.load else { return None };
    let steps: Vec<Step> = ramp.as_ref().map(|ramp| options.steps(ramp)).unwrap_or_default();
    let (rate, threads) = (*rate, f64::from(share.of));
    let expected = move |time: Time| {
        let step = steps.iter().find(|step| time.as_nanos() < step.to_ns).or(steps.last());
        let rate = step.and_then(|step| Rate::per_second(step.level)).unwrap_or(rate);
        rate.scaled(1.0 / threads).period()
    };
    Some(Gaps::new(expected))
}

/// Processor time that this thread has needed: what it used, without what it spent on being awake.
fn needed(engine: &Engine) -> Span {
    thread_cpu().saturating_sub(engine.reactor.spun())
}

/// Returns when all that began in the window has ended, in all threads, or has had its time.
async fn keep_time(engine: Rc<Engine>, common: Arc<Common>, meter: Rc<Meter>) {
    engine.until(Time::from_nanos(engine.window.from_ns)).await;
    meter.began.set(Some(Reading::take(&engine)));
    let closes = Time::from_nanos(engine.window.to_ns);
    engine.until(closes).await;
    meter.ended.set(Some(Reading::take(&engine)));
    let drain = common.options.drain.unwrap_or_else(|| engine.plan.longest() + DRAIN_MARGIN);
    let last = closes + drain;
    while engine.now() < last && !engine.is_settled() {
        engine.until(engine.now() + ASK_EVERY).await;
    }
    common.unsettled.fetch_sub(1, Ordering::Relaxed);
    while engine.now() < last && common.unsettled.load(Ordering::Relaxed) > 0 {
        engine.until(engine.now() + ASK_EVERY).await;
    }
}

/// Says, again and again, what the thread has seen.
async fn report(engine: Rc<Engine>, look: Arc<Mutex<Look>>) {
    let mut next = Time::ZERO;
    loop {
        next += LOOK_EVERY;
        engine.until(next).await;
        show(&engine, &look);
    }
}

fn show(engine: &Engine, look: &Mutex<Look>) {
    let mut look = look.lock().unwrap_or_else(PoisonError::into_inner);
    // Otherwise it is told the next time: adding up would hold up requests.
    if !std::mem::replace(&mut look.fresh, true) {
        engine.recorder.borrow_mut().swap_seen(&mut look.seen);
    }
    look.at = engine.now();
    look.running = engine.running() as u64;
    look.connections = engine.reactor.open_sockets() as u64;
    look.cpu = needed(engine);
}

/// What the thread used, and missed, of a processor in the window.
#[derive(Debug, Default)]
struct Meter {
    began: Cell<Option<Reading>>,
    ended: Cell<Option<Reading>>,
}

impl Meter {
    /// The shares of the window; of what there was of it, when it was cut short.
    fn shares(&self, engine: &Engine) -> (f64, f64) {
        let Some(began) = self.began.get() else { return (0.0, 0.0) };
        self.ended.get().unwrap_or_else(|| Reading::take(engine)).shares_since(began)
    }
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    at: Time,
    used: Span,
    waited: Span,
}

impl Reading {
    fn take(engine: &Engine) -> Self {
        Self { at: engine.reactor.clock.now(), used: needed(engine), waited: thread_waited() }
    }

    fn shares_since(self, before: Self) -> (f64, f64) {
        let elapsed = self.at.since(before.at).as_secs_f64();
        let share = |span: Span| if elapsed > 0.0 { span.as_secs_f64() / elapsed } else { 0.0 };
        (share(self.used.saturating_sub(before.used)), share(self.waited.saturating_sub(before.waited)))
    }
}
