//! [`AccessLog`]: gathers what became of each request, for the access log and the traces.
//!
//! An [`Account`](super::account::Account) follows a request and is handed in when it is over. Here entries are gathered
//! and passed on in batches; making text of them and writing it is done by a thread of its own
//! (`writer`), to which nothing is passed that it cannot take at once.

use std::cell::RefCell;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::StatusCode;
use http::request::Parts;
use telemetry::Metrics;

use crate::observe::access_log::entry::{Batch, Entry};
use crate::observe::access_log::writer::Counts;
use crate::observe::trace::context::Trace;
use crate::observe::trace::exporter::{Exporter, Sent};
use crate::runtime::clock::Clock;
use gate_config::settings::operation::LogTo;
use gate_config::settings::telemetry::{Collector, Telemetry};

use crate::observe::access_log::writer::Writer;

/// Entries that are passed on together. Fewer are, several times a second.
const BATCH: usize = 256;

/// The access log cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open access log {to}: {why}; the user that the gate runs as must be able to write there")]
pub struct LogError {
    /// Where it should go.
    pub to: String,
    /// What the kernel says.
    pub why: io::Error,
}

/// Gathers entries and passes them to the thread that writes the log and to the exporter of traces.
#[derive(Debug)]
pub(crate) struct AccessLog {
    clock: Rc<Clock>,
    classes: Arc<[String]>,
    writer: RefCell<Option<Writer>>,
    exporter: RefCell<Option<Exporter>>,
    gathered: RefCell<Vec<Entry>>,
    counts: Arc<Counts>,
    sent: Arc<Sent>,
}

impl AccessLog {
    pub(crate) fn new(clock: Rc<Clock>, classes: &[String]) -> Self {
        Self {
            clock,
            classes: classes.into(),
            writer: RefCell::default(),
            exporter: RefCell::default(),
            gathered: RefCell::default(),
            counts: Arc::default(),
            sent: Arc::default(),
        }
    }

    /// Opens a log, for [`AccessLog::use_log`]; none when it is the one in use already.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open_log(&self, to: Option<&LogTo>) -> Result<Option<NewLog>, LogError> {
        if self.writer.borrow().as_ref().map(Writer::to) == to {
            return Ok(None);
        }
        let start = |to: &LogTo| {
            Writer::start(to.clone(), Arc::clone(&self.classes), Arc::clone(&self.counts))
                .map_err(|why| LogError { to: to.to_string(), why })
        };
        Ok(Some(NewLog(to.map(start).transpose()?)))
    }

    /// Writes to another log from now on. What was gathered for the old one still goes there.
    pub(crate) fn use_log(&self, log: Option<NewLog>) {
        let Some(NewLog(new)) = log else { return };
        self.flush();
        // The old thread ends by itself when it has written what it was given.
        self.writer.replace(new);
    }

    /// Starts what sends to the collector, for [`AccessLog::use_exporter`]; none when it is the one in
    /// use already.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start_exporter(&self, collector: Option<&Collector>) -> io::Result<Option<NewExporter>> {
        if self.exporter.borrow().as_ref().map(Exporter::collector) == collector {
            return Ok(None);
        }
        let start = |collector: &Collector| {
            let (classes, sent) = (Arc::clone(&self.classes), Arc::clone(&self.sent));
            Exporter::start(collector.clone(), classes, self.now(), sent)
        };
        Ok(Some(NewExporter(collector.map(start).transpose()?)))
    }

    /// Sends to another collector from now on.
    pub(crate) fn use_exporter(&self, exporter: Option<NewExporter>) {
        let Some(NewExporter(new)) = exporter else { return };
        self.flush();
        self.exporter.replace(new);
    }

    pub(crate) fn is_exporting(&self) -> bool {
        self.exporter.borrow().is_some()
    }

    /// Passes metrics on.
    pub(crate) fn export(&self, metrics: Metrics) {
        if let Some(exporter) = &*self.exporter.borrow() {
            exporter.metrics(metrics, self.now());
        }
    }

    /// The entry of a request that begins; none when no reader wants to know of it.
    pub(crate) fn begin(&self, head: &Parts, client: IpAddr, telemetry: &Telemetry) -> Option<Entry> {
        let trace = match &*self.exporter.borrow() {
            Some(_) => Trace::of(&head.headers, telemetry.sample.as_f64(), telemetry.follow),
            None => None,
        };
        let wanted = trace.is_some() || self.writer.borrow().is_some();
        wanted.then(|| Entry::begin(head, client, trace, self.clock.read()))
    }

    /// A request was refused whose head could not be read, with that status and so many bytes besides.
    pub(crate) fn unread(&self, client: IpAddr, said: (StatusCode, u64), why: &'static str) {
        if self.writer.borrow().is_some() {
            self.add(Entry::unread(client, said, why, self.clock.read()));
        }
    }

    pub(crate) fn add(&self, entry: Entry) {
        let mut gathered = self.gathered.borrow_mut();
        gathered.push(entry);
        let full = gathered.len() >= BATCH;
        drop(gathered);
        if full {
            self.flush();
        }
    }

    /// Passes on what was gathered.
    pub(crate) fn flush(&self) {
        if self.gathered.borrow().is_empty() {
            return;
        }
        let entries = self.gathered.replace(Vec::with_capacity(BATCH));
        let batch = Arc::new(Batch { entries, offset: self.offset() });
        if let Some(exporter) = &*self.exporter.borrow()
            && batch.entries.iter().any(|entry| entry.trace.is_some())
        {
            exporter.spans(Arc::clone(&batch));
        }
        if let Some(writer) = &*self.writer.borrow() {
            writer.write(batch);
        }
    }

    /// Nanoseconds since 1970.
    fn now(&self) -> i128 {
        i128::from(self.clock.read().as_nanos()) + self.offset()
    }

    /// The gate's clock does not see when somebody sets the system's; its readers shall.
    fn offset(&self) -> i128 {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        i128::try_from(wall).unwrap_or_default() - i128::from(self.clock.read().as_nanos())
    }

    /// Opens the log's file again, after it was moved away.
    pub(crate) fn reopen(&self) {
        self.flush();
        if let Some(writer) = &*self.writer.borrow() {
            writer.reopen();
        }
    }

    /// Lets everything be written, but does not wait long for it: the log may be a pipe
    /// without a reader.
    pub(crate) fn close(&self) {
        const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
        self.flush();
        if let Some(writer) = self.writer.take() {
            writer.close(CLOSE_TIMEOUT);
        }
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What became of what was sent to the collector.
    pub(crate) fn sent(&self) -> &Sent {
        &self.sent
    }
}

/// An exporter that has been started and is not used yet.
pub(crate) struct NewExporter(Option<Exporter>);

/// A log that has been opened and is not used yet.
pub(crate) struct NewLog(Option<Writer>);
