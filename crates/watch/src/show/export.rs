//! [`Exporter`]: the thread that sends metrics to a collector. What it cannot send is lost, and said; nobody
//! waits for it.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use console::give_way;
use telemetry::Metrics;
use telemetry::otlp::{self, Collector};
use tokio::runtime::{Builder, Runtime};
use units::Span;

use super::{Glance, metrics};

/// Between two transmissions, as of the gate.
const INTERVAL: Span = Span::from_secs(10);
/// What the watch is called there, and what of Headworks it is.
const SERVICE: &str = "headworks-watch";
const SCOPE: &str = "headworks.watch";

/// A thread that sends, and the channel to it.
#[derive(Debug)]
pub(super) struct Exporter {
    metrics: Option<SyncSender<(Metrics, i128)>>,
    thread: JoinHandle<()>,
    outcome: Arc<Mutex<Outcome>>,
    due: Span,
    /// What was last seen, and has not been sent.
    last: Option<(Metrics, i128)>,
}

#[derive(Debug, Default)]
struct Outcome {
    sent: u64,
    failed: u64,
    why: String,
}

impl Exporter {
    /// Starts the thread; none when the system gives none.
    pub(super) fn start(collector: Collector) -> Option<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let (metrics, given) = sync_channel(1);
        let outcome = Arc::new(Mutex::new(Outcome::default()));
        let told = Arc::clone(&outcome);
        let thread = std::thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
            give_way();
            send_all(&runtime, &collector, &given, &told);
        });
        Some(Self { metrics: Some(metrics), thread: thread.ok()?, outcome, due: INTERVAL, last: None })
    }

    /// Sends, if it is time to.
    pub(super) fn see(&mut self, glance: &Glance) {
        let gathered = (metrics::gather(glance), now());
        if glance.age < self.due {
            self.last = Some(gathered);
            return;
        }
        self.due = glance.age + INTERVAL;
        if let Some(Err(TrySendError::Full(_))) =
            self.metrics.as_ref().map(|metrics| metrics.try_send(gathered))
        {
            let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.failed += 1;
            "it is slower than the watch".clone_into(&mut outcome.why);
        }
        self.last = None;
    }

    /// What the collector was not told, and why.
    pub(super) fn trouble(&self) -> Option<String> {
        trouble(&self.outcome)
    }

    /// Sends what is left, and ends; what the collector was not told, and why.
    pub(super) fn end(mut self) -> Option<String> {
        if let (Some(metrics), Some(last)) = (&self.metrics, self.last.take()) {
            // The one before it is at most as long under way as a transmission may take.
            let _ = metrics.send(last);
        }
        self.metrics = None;
        let _ = self.thread.join();
        trouble(&self.outcome)
    }
}

fn trouble(outcome: &Mutex<Outcome>) -> Option<String> {
    let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
    let Outcome { sent, failed, why } = &*outcome;
    (*failed > 0).then(|| format!("{failed} of {} transmissions were lost: {why}", sent + failed))
}

fn send_all(
    runtime: &Runtime,
    collector: &Collector,
    given: &Receiver<(Metrics, i128)>,
    outcome: &Mutex<Outcome>,
) {
    let began = now();
    for (metrics, at) in given {
        let body = otlp::metrics(SERVICE, SCOPE, &metrics, began, at);
        let sent = runtime.block_on(collector.send("/v1/metrics", &body));
        let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match sent {
            Ok(()) => outcome.sent += 1,
            Err(why) => {
                outcome.failed += 1;
                outcome.why = why;
            }
        }
    }
}

/// Nanoseconds since 1970.
fn now() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128)
}
