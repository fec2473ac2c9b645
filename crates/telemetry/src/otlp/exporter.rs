//! [`Exporter`]: the thread that sends the metrics of a run to a collector. What it cannot send is lost, and said;
//! the run never waits for it.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::runtime::{Builder, Runtime};

use super::collector::Collector;
use super::metrics::metrics;
use crate::Metrics;

/// Between two transmissions, as of the gate.
const INTERVAL: Duration = Duration::from_secs(10);
/// How long the end of a run waits for the last transmission.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// What the sender is called at the collector.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// The service: `headworks-watch`, for example.
    pub service: &'static str,
    /// The instrumentation scope: `headworks.watch`, for example.
    pub scope: &'static str,
}

/// A snapshot and when it was taken, in nanoseconds since 1970.
type Dated<S> = (S, i128);

/// A thread that sends snapshots, and the channel to it.
#[derive(Debug)]
pub struct Exporter<S> {
    snapshots: Option<SyncSender<Dated<S>>>,
    ended: Receiver<()>,
    sent: Arc<Mutex<Sent>>,
    /// Age of the run at which the next transmission is due.
    due: Duration,
    /// The last snapshot, unless it has been sent.
    last: Option<Dated<S>>,
}

#[derive(Debug, Default)]
struct Sent {
    done: u64,
    failed: u64,
    why: String,
}

impl Sent {
    fn fail(&mut self, why: impl Into<String>) {
        self.failed += 1;
        self.why = why.into();
    }
}

impl<S: Send + 'static> Exporter<S> {
    /// Starts the thread, which does `prepare` first and turns each snapshot that it sends into metrics.
    ///
    /// # Errors
    /// When the system gives no thread or no descriptor.
    pub fn start(
        collector: Collector,
        origin: Origin,
        prepare: fn(),
        gather: impl Fn(&S) -> Metrics + Send + 'static,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (snapshots, given) = sync_channel(1);
        let (end, ended) = channel();
        let sent = Arc::new(Mutex::new(Sent::default()));
        let told = Arc::clone(&sent);
        std::thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
            prepare();
            send_all(&runtime, &collector, origin, &gather, &given, &told);
            drop(end);
        })?;
        Ok(Self { snapshots: Some(snapshots), ended, sent, due: INTERVAL, last: None })
    }

    /// Sends a snapshot of a run of this age, if it is time to. Never waits.
    pub fn see(&mut self, age: Duration, snapshot: S) {
        let dated = (snapshot, now());
        if age < self.due {
            self.last = Some(dated);
            return;
        }
        self.due = age + INTERVAL;
        self.last = None;
        self.pass_on(dated);
    }

    fn pass_on(&self, dated: Dated<S>) {
        if let Some(Err(TrySendError::Full(_))) =
            self.snapshots.as_ref().map(|snapshots| snapshots.try_send(dated))
        {
            let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
            sent.fail("it takes longer than the time between two of them");
        }
    }

    /// What the collector did not get, and why.
    pub fn trouble(&self) -> Option<String> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let Sent { done, failed, why } = &*sent;
        (*failed > 0).then(|| format!("{failed} of {} transmissions were lost: {why}", done + failed))
    }

    /// Sends what is left, and ends; what the collector did not get, and why.
    pub fn end(mut self) -> Option<String> {
        if let Some(last) = self.last.take() {
            self.pass_on(last);
        }
        self.snapshots = None;
        match self.ended.recv_timeout(END_TIMEOUT) {
            // A thread that waits for a collector that does not answer is left behind.
            Err(RecvTimeoutError::Timeout) => {
                let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
                sent.fail("it did not answer in time");
            }
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {}
        }
        self.trouble()
    }
}

fn send_all<S>(
    runtime: &Runtime,
    collector: &Collector,
    origin: Origin,
    gather: &impl Fn(&S) -> Metrics,
    given: &Receiver<Dated<S>>,
    sent: &Mutex<Sent>,
) {
    let began = now();
    for (snapshot, at) in given {
        let body = metrics(origin.service, origin.scope, &gather(&snapshot), began, at);
        let result = runtime.block_on(collector.send("/v1/metrics", &body));
        let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(()) => sent.done += 1,
            Err(why) => sent.fail(why),
        }
    }
}

/// Nanoseconds since 1970.
fn now() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128)
}
