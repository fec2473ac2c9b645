//! [`RequestsCsv`]: one line per request, with the columns of `requests.parquet` that people look at.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{RequestRow, Timestamp};
use units::{Span, Time};

use crate::output::error::OutputError;

/// The columns. `time` is when the request started by the wall clock, so that it can be found in a server's log;
/// `intended` and `started` are in seconds from the run's start, lengths of time in seconds.
const COLUMNS: [&str; 22] = [
    "intended",
    "started",
    "latency",
    "queued",
    "dns",
    "connect",
    "tls",
    "sending",
    "processing",
    "transfer",
    "bytes",
    "status",
    "error",
    "detail",
    "class",
    "session",
    "connection",
    "reused",
    "syn_retransmits",
    "url",
    "method",
    "time",
];

/// The file, open.
pub(crate) struct RequestsCsv {
    path: PathBuf,
    lines: csv::Writer<File>,
    /// What [`Time::ZERO`] was by the wall clock.
    zero: Timestamp,
}

impl RequestsCsv {
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn create(path: &Path) -> Result<Self, OutputError> {
        let file = File::create(path).map_err(OutputError::at(path))?;
        let lines = csv::Writer::from_writer(file);
        let mut csv = Self { path: path.to_owned(), lines, zero: Timestamp::UNIX_EPOCH };
        csv.line(COLUMNS)?;
        Ok(csv)
    }

    /// The run starts at `zero`.
    pub(crate) const fn starts(&mut self, zero: Timestamp) {
        self.zero = zero;
    }

    fn line<T: AsRef<[u8]>>(&mut self, fields: impl IntoIterator<Item = T>) -> Result<(), OutputError> {
        self.lines.write_record(fields).map_err(|why| OutputError::at(&self.path)(why.into()))
    }

    pub(crate) fn push(&mut self, row: &RequestRow) -> Result<(), OutputError> {
        let at = |time: Time| time.since(Time::ZERO).as_secs_f64().to_string();
        let span = |span: Span| span.as_secs_f64().to_string();
        let maybe = |length: Option<Span>| length.map(span).unwrap_or_default();
        let by_the_wall = |time: Time| {
            let time = self.zero.checked_add(Duration::from(time.since(Time::ZERO)));
            time.map(|time| format!("{time:.6}")).unwrap_or_default()
        };
        self.line([
            at(row.intended),
            at(row.started),
            span(row.latency()),
            maybe(row.queued_ns),
            span(row.dns_ns),
            span(row.connect_ns),
            span(row.tls_ns),
            maybe(row.sending_ns),
            maybe(row.processing_ns),
            maybe(row.transfer_ns),
            row.bytes.to_string(),
            row.status.map(|status| status.to_string()).unwrap_or_default(),
            row.error.map(|error| error.name().to_owned()).unwrap_or_default(),
            row.detail.as_deref().unwrap_or_default().to_owned(),
            row.class.to_string(),
            row.session.map(|session| session.to_string()).unwrap_or_default(),
            row.connection.to_string(),
            row.reused.to_string(),
            row.syn_retransmits.to_string(),
            row.url_class.to_string(),
            row.method.as_deref().unwrap_or_default().to_owned(),
            by_the_wall(row.started),
        ])
    }

    pub(crate) fn finish(mut self) -> Result<(), OutputError> {
        let flushed: io::Result<()> = self.lines.flush();
        flushed.map_err(OutputError::at(&self.path))
    }
}
