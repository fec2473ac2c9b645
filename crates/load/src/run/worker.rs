//! [`work`]: one thread of a run.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use units::{Span, Time};

use crate::client::context::ThreadContext;
use crate::engine::clock::{thread_cpu, thread_waited};
use crate::engine::reactor::Reactor;
use crate::engine::runtime::Runtime;
use crate::engine::share::Share;
use crate::measure::recorder::{Figures, Recorder, Rows};
use crate::run::common::Common;
use crate::schedule::expected::gaps;
use crate::schedule::start::start;

/// How often a thread says what it has seen.
const SNAPSHOT_EVERY: Span = Span::from_secs(1);

/// How often a thread looks whether the others are done.
const ASK_EVERY: Span = Span::from_millis(1);

/// Beyond the longest session: the server's answer to a timeout, and the generator's own time.
const DRAIN_MARGIN: Span = Span::from_secs(1);

/// What a thread says of itself from time to time.
#[derive(Debug, Default)]
pub(crate) struct ThreadSnapshot {
    /// What it saw; empty when somebody has looked at it.
    pub(crate) figures: Figures,
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
    snapshot: &Arc<Mutex<ThreadSnapshot>>,
    rows: Option<SyncSender<Rows>>,
) -> io::Result<Ending> {
    let options = &common.setup.options;
    let reactor = Rc::new(Reactor::new(common.clock, options.backend)?);
    let runtime = Runtime::new(Rc::clone(&reactor));
    let mut recorder = Recorder::new(options.window(), options.ramp_steps(), common.setup.plan.names(), rows);
    recorder.poisson = gaps(options, share);
    let thread = Rc::new(ThreadContext::new(&common.setup, share, reactor, runtime.spawner(), recorder));
    start(&thread, options);
    thread.spawner.spawn(report(Rc::clone(&thread), Arc::clone(snapshot)));
    let signal = Arc::clone(&common.signal);
    let meter = Rc::new(Meter::default());
    let time = keep_time(Rc::clone(&thread), Arc::clone(common), Rc::clone(&meter));
    runtime.run(time, move || signal.load(Ordering::Relaxed) != 0)?;
    let (cpu, waited) = meter.shares(&thread);
    // The tasks are gone; what was under way has written its row.
    let mut recorder = thread.recorder.borrow_mut();
    recorder.flush();
    let poisson = recorder.poisson.as_ref().and_then(|gaps| gaps.check.verdict());
    let mut rest = Figures::default();
    recorder.swap_figures(&mut rest);
    drop(recorder);
    snapshot.lock().unwrap_or_else(PoisonError::into_inner).figures.add(&rest);
    Ok(Ending { cpu, waited, issued: thread.progress.is_issued(), poisson })
}

/// Processor time that this thread has needed: what it used, without what it spent on being awake.
fn needed(thread: &ThreadContext) -> Span {
    thread_cpu().saturating_sub(thread.reactor.spun())
}

/// Returns when all that began in the window has ended, in all threads, or has had its time.
async fn keep_time(thread: Rc<ThreadContext>, common: Arc<Common>, meter: Rc<Meter>) {
    thread.until(Time::from_nanos(thread.progress.window.from_ns)).await;
    meter.began.set(Some(Reading::take(&thread)));
    let closes = Time::from_nanos(thread.progress.window.to_ns);
    if common.setup.options.count.is_some() {
        while thread.now() < closes && !thread.progress.is_used_up() {
            thread.until(thread.now() + ASK_EVERY).await;
        }
        common.closed.fetch_max(thread.now().as_nanos(), Ordering::Relaxed);
    } else {
        thread.until(closes).await;
    }
    meter.ended.set(Some(Reading::take(&thread)));
    let drain = common.setup.options.drain.unwrap_or_else(|| thread.plan.longest() + DRAIN_MARGIN);
    let last = closes + drain;
    while thread.now() < last && !thread.progress.is_settled() {
        thread.until(thread.now() + ASK_EVERY).await;
    }
    common.unsettled.fetch_sub(1, Ordering::Relaxed);
    while thread.now() < last && common.unsettled.load(Ordering::Relaxed) > 0 {
        thread.until(thread.now() + ASK_EVERY).await;
    }
}

/// Says, again and again, what the thread has seen.
async fn report(thread: Rc<ThreadContext>, snapshot: Arc<Mutex<ThreadSnapshot>>) {
    let mut next = Time::ZERO;
    loop {
        next += SNAPSHOT_EVERY;
        thread.until(next).await;
        show(&thread, &snapshot);
    }
}

fn show(thread: &ThreadContext, snapshot: &Mutex<ThreadSnapshot>) {
    let mut snapshot = snapshot.lock().unwrap_or_else(PoisonError::into_inner);
    // Otherwise it is told the next time: adding up would hold up requests.
    if !std::mem::replace(&mut snapshot.fresh, true) {
        thread.recorder.borrow_mut().swap_figures(&mut snapshot.figures);
    }
    snapshot.at = thread.now();
    snapshot.running = thread.progress.running() as u64;
    snapshot.connections = thread.reactor.open_sockets() as u64;
    snapshot.cpu = needed(thread);
}

/// What the thread used, and missed, of a processor in the window.
#[derive(Debug, Default)]
struct Meter {
    began: Cell<Option<Reading>>,
    ended: Cell<Option<Reading>>,
}

impl Meter {
    /// The shares of the window; of what there was of it, when it was cut short.
    fn shares(&self, thread: &ThreadContext) -> (f64, f64) {
        let Some(began) = self.began.get() else { return (0.0, 0.0) };
        self.ended.get().unwrap_or_else(|| Reading::take(thread)).shares_since(began)
    }
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    at: Time,
    used: Span,
    waited: Span,
}

impl Reading {
    fn take(thread: &ThreadContext) -> Self {
        Self { at: thread.reactor.clock.now(), used: needed(thread), waited: thread_waited() }
    }

    fn shares_since(self, before: Self) -> (f64, f64) {
        let elapsed = self.at.since(before.at).as_secs_f64();
        let share = |span: Span| if elapsed > 0.0 { span.as_secs_f64() / elapsed } else { 0.0 };
        (share(self.used.saturating_sub(before.used)), share(self.waited.saturating_sub(before.waited)))
    }
}
