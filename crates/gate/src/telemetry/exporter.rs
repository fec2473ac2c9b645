//! [`Exporter`]: the thread that sends spans and metrics to a collector. What it cannot send is
//! dropped and counted; nobody waits for it.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderValue, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::{metrics, spans};
use crate::admin::text::Text;
use crate::journal::Batch;
use crate::say::say;
use crate::settings::Collector;

/// Messages that may wait for the thread.
const WAITING: usize = 32;
/// Between two requests to the collector: what comes meanwhile goes together.
const PAUSE: Duration = Duration::from_secs(1);
/// For the collector to take a request.
const PATIENCE: Duration = Duration::from_secs(10);

enum Message {
    Spans(Arc<Batch>),
    Metrics { text: Text, now: i128 },
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

    pub(crate) fn metrics(&self, text: Text, now: i128) {
        self.pass_on(Message::Metrics { text, now });
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
                    Message::Metrics { text, now } => latest = Some((text, now)),
                }
            }
            let service = self.collector.service.clone();
            if let Some(spans) = spans::export(&service, &self.classes, &batches) {
                self.send("/v1/traces", &spans).await;
            }
            if let Some((text, now)) = latest {
                self.send("/v1/metrics", &metrics::export(&service, &text, self.began, now)).await;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn send(&mut self, path: &str, body: &Value) {
        let sent = tokio::time::timeout(PATIENCE, self.post(path, body)).await;
        let why = match sent {
            Ok(Ok(())) => {
                self.sent.done.fetch_add(1, Ordering::Relaxed);
                return;
            }
            Ok(Err(why)) => why,
            Err(_) => "it did not answer in time".to_owned(),
        };
        self.sent.failed.fetch_add(1, Ordering::Relaxed);
        const QUIET: Duration = Duration::from_secs(60);
        if self.told.is_none_or(|told| told.elapsed() >= QUIET) {
            self.told = Some(Instant::now());
            say!("collector {}: {why}; what it does not take is lost", self.collector.address);
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<(), String> {
        /// More than any honest answer has.
        const LARGEST: usize = 64 * 1024;
        let said = |why: &dyn std::fmt::Display| why.to_string();
        let Collector { address, prefix, .. } = &self.collector;
        let socket = TcpStream::connect(address).await.map_err(|why| said(&why))?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(socket)).await.map_err(|why| said(&why))?;
        let request = Request::post(format!("{prefix}{path}"))
            .header(HOST, address)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|why| said(&why))?;
        let asking = async {
            let response = sender.send_request(request).await.map_err(|why| said(&why))?;
            let status = response.status();
            // The answer is read, or the collector would see a connection that breaks off.
            let _ = Limited::new(response.into_body(), LARGEST).collect().await;
            if status.is_success() { Ok(()) } else { Err(format!("it answers {status}")) }
        };
        let mut asking = pin!(asking);
        tokio::select! {
            biased;
            answered = &mut asking => answered,
            // What is wrong with it, the request is told; and an answer may have come before.
            _ = connection => asking.await,
        }
    }
}
