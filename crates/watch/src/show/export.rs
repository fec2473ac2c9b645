//! [`Exporter`]: the thread that sends metrics to a collector. What it cannot send is lost, and said; nobody
//! waits for it.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use telemetry::otlp::{self, Collector};
use tokio::runtime::{Builder, Runtime};
use tui::give_way;
use units::Span;

use super::{Look, metrics};

/// Between two transmissions, as of the gate.
const INTERVAL: Span = Span::from_secs(10);
/// How long the end of a watch waits for the last transmission.
const PATIENCE: Duration = Duration::from_secs(3);
/// What the watch is called there, and what of Headworks it is.
const SERVICE: &str = "headworks-watch";
const SCOPE: &str = "headworks.watch";

/// A thread that sends, and the channel to it.
#[derive(Debug)]
pub(super) struct Exporter {
    looks: Option<SyncSender<(Look, i128)>>,
    ended: Receiver<()>,
    outcome: Arc<Mutex<Outcome>>,
    due: Span,
    /// What was last seen, and has not been sent.
    last: Option<(Look, i128)>,
}

#[derive(Debug, Default)]
struct Outcome {
    sent: u64,
    failed: u64,
    why: String,
}

impl Outcome {
    fn fail(&mut self, why: impl Into<String>) {
        self.failed += 1;
        self.why = why.into();
    }
}

impl Exporter {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives none.
    pub(super) fn start(collector: Collector) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (looks, given) = sync_channel(1);
        let (end, ended) = channel();
        let outcome = Arc::new(Mutex::new(Outcome::default()));
        let told = Arc::clone(&outcome);
        std::thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
            give_way();
            send_all(&runtime, &collector, &given, &told);
            drop(end);
        })?;
        Ok(Self { looks: Some(looks), ended, outcome, due: INTERVAL, last: None })
    }

    /// Sends, if it is time to.
    pub(super) fn see(&mut self, look: Look) {
        let (age, dated) = (look.glance.age, (look, now()));
        if age < self.due {
            self.last = Some(dated);
            return;
        }
        self.due = age + INTERVAL;
        self.last = None;
        self.pass_on(dated);
    }

    fn pass_on(&self, dated: (Look, i128)) {
        if let Some(Err(TrySendError::Full(_))) = self.looks.as_ref().map(|looks| looks.try_send(dated)) {
            let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.fail("it is slower than the watch");
        }
    }

    /// What the collector was not told, and why.
    pub(super) fn trouble(&self) -> Option<String> {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        let Outcome { sent, failed, why } = &*outcome;
        (*failed > 0).then(|| format!("{failed} of {} transmissions were lost: {why}", sent + failed))
    }

    /// Sends what is left, and ends; what the collector was not told, and why.
    pub(super) fn end(mut self) -> Option<String> {
        if let Some(last) = self.last.take() {
            self.pass_on(last);
        }
        self.looks = None;
        match self.ended.recv_timeout(PATIENCE) {
            // One that waits for a collector that does not answer is left behind.
            Err(RecvTimeoutError::Timeout) => {
                let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
                outcome.fail("it did not answer in time");
            }
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {}
        }
        self.trouble()
    }
}

fn send_all(
    runtime: &Runtime,
    collector: &Collector,
    given: &Receiver<(Look, i128)>,
    outcome: &Mutex<Outcome>,
) {
    let began = now();
    for (look, at) in given {
        let metrics = metrics::gather(&look.glance, look.totals.as_deref());
        let body = otlp::metrics(SERVICE, SCOPE, &metrics, began, at);
        let sent = runtime.block_on(collector.send("/v1/metrics", &body));
        let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match sent {
            Ok(()) => outcome.sent += 1,
            Err(why) => outcome.fail(why),
        }
    }
}

/// Nanoseconds since 1970.
fn now() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128)
}
