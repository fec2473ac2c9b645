//! [`Exporter`]: the thread that sends spans and metrics to a collector. What it cannot send is
//! dropped and counted; the event loop never waits for it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use telemetry::Metrics;
use telemetry::otlp;

use crate::observe::access_log::entry::Batch;
use crate::observe::trace::spans;
use crate::observe::trace::spans::SCOPE;
use crate::runtime::log::say;
use gate_config::settings::telemetry::Collector;

/// Messages that may wait for the thread.
const WAITING: usize = 32;
/// Between two requests to the collector: what comes meanwhile goes together.
const PAUSE: Duration = Duration::from_secs(1);

enum Message {
    Spans(Arc<Batch>),
    Metrics { metrics: Metrics, now: i128 },
}

/// What became of requests to the collector.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    done: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

impl Sent {
    /// Requests that the collector took, that failed, and messages dropped before.
    pub(crate) fn read(&self) -> [(&'static str, u64); 3] {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        [("done", read(&self.done)), ("failed", read(&self.failed)), ("dropped", read(&self.dropped))]
    }
}

/// A thread that sends, and the channel to it.
#[derive(Debug)]
pub(crate) struct Exporter {
    collector: Collector,
    messages: mpsc::Sender<Message>,
    sent: Arc<Sent>,
}

impl Exporter {
    /// Starts the thread; `began` is when the gate did.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start(
        collector: Collector,
        classes: Arc<[String]>,
        began: i128,
        sent: Arc<Sent>,
    ) -> io::Result<Self> {
        let (messages, received) = mpsc::channel(WAITING);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let mut sender =
            Sender { collector: collector.clone(), classes, began, sent: Arc::clone(&sent), told: None };
        thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || runtime.block_on(sender.send_all(received)))?;
        Ok(Self { collector, messages, sent })
    }

    pub(crate) fn collector(&self) -> &Collector {
        &self.collector
    }

    pub(crate) fn spans(&self, batch: Arc<Batch>) {
        self.pass_on(Message::Spans(batch));
    }

    pub(crate) fn metrics(&self, metrics: Metrics, now: i128) {
        self.pass_on(Message::Metrics { metrics, now });
    }

    fn pass_on(&self, message: Message) {
        if let Err(TrySendError::Full(_) | TrySendError::Closed(_)) = self.messages.try_send(message) {
            self.sent.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What the thread sends with.
struct Sender {
    collector: Collector,
    classes: Arc<[String]>,
    began: i128,
    sent: Arc<Sent>,
    /// When the operator was last told that sending fails.
    told: Option<Instant>,
}

impl Sender {
    async fn send_all(&mut self, mut received: mpsc::Receiver<Message>) {
        let mut messages = Vec::new();
        while received.recv_many(&mut messages, WAITING).await > 0 {
            let mut batches = Vec::new();
            let mut latest = None;
            for message in messages.drain(..) {
                match message {
                    Message::Spans(batch) => batches.push(batch),
                    // Totals: what came before is in the last.
                    Message::Metrics { metrics, now } => latest = Some((metrics, now)),
                }
            }
            let service = self.collector.service.clone();
            if let Some(spans) = spans::export(&service, &self.classes, &batches) {
                self.send("/v1/traces", &spans).await;
            }
            if let Some((metrics, now)) = latest {
                self.send("/v1/metrics", &otlp::metrics(&service, SCOPE, &metrics, self.began, now)).await;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn send(&mut self, path: &str, body: &Value) {
        let Err(why) = self.collector.at.send(path, body).await else {
            self.sent.done.fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.sent.failed.fetch_add(1, Ordering::Relaxed);
        const QUIET: Duration = Duration::from_secs(60);
        if self.told.is_none_or(|told| told.elapsed() >= QUIET) {
            self.told = Some(Instant::now());
            say!("collector {}: {why}; what it does not take is lost", self.collector.at);
        }
    }
}
