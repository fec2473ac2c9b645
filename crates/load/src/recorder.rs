//! [`Recorder`]: rows go into the tally and, where there is one, into the run directory.

use std::io;
use std::sync::Arc;

use record::{
    Histogram, RequestError, RequestRow, RunDirectory, SampleRow, SessionRow, TableWriter, Viewpoint, Window,
};
use units::{Span, Time};

use crate::tally::Tally;

pub(crate) struct Recorder {
    pub(crate) tally: Tally,
    lag: Histogram,
    /// Since the last look, for whoever watches.
    recent: Recent,
    files: Option<Files>,
    /// Why the record is incomplete.
    failure: Option<record::Error>,
    /// Connections that failed for want of descriptors or ports.
    pub(crate) exhausted: u64,
    /// Connections over the whole run, warm-up included.
    pub(crate) ever_connected: bool,
    /// Why the last connection that failed did.
    pub(crate) last_refusal: Option<String>,
}

/// What happened since the last look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recent {
    pub(crate) responses: u64,
    pub(crate) errors: u64,
    pub(crate) sessions_completed: u64,
    pub(crate) sessions_lost: u64,
    pub(crate) latency: Histogram,
}

struct Files {
    requests: TableWriter<RequestRow>,
    sessions: TableWriter<SessionRow>,
    samples: TableWriter<SampleRow>,
    host: Arc<str>,
}

impl Recorder {
    pub(crate) fn new<'a>(window: Window, classes: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            tally: Tally::new(window, classes),
            lag: Histogram::new(),
            recent: Recent::default(),
            files: None,
            failure: None,
            exhausted: 0,
            ever_connected: false,
            last_refusal: None,
        }
    }

    /// Writes rows into `directory` from now on; `host` is this machine's name.
    pub(crate) fn write_to(&mut self, directory: &RunDirectory, host: &str) -> Result<(), record::Error> {
        self.files = Some(Files {
            requests: directory.write_requests()?,
            sessions: directory.write_sessions()?,
            samples: directory.write_samples()?,
            host: Arc::from(host),
        });
        Ok(())
    }

    pub(crate) fn request(&mut self, row: RequestRow) {
        self.tally.request(&row);
        self.ever_connected |= row.processing_ns.is_some();
        if row.processing_ns.is_none() && row.error == Some(RequestError::Timeout) {
            self.last_refusal = Some("connecting took longer than the timeout".to_owned());
        }
        match row.error {
            None => {
                self.recent.responses += 1;
                self.recent.latency.record(row.latency());
            }
            Some(_) => self.recent.errors += 1,
        }
        self.write(|files| files.requests.push(row));
    }

    pub(crate) fn session(&mut self, row: SessionRow) {
        self.tally.session(&row);
        let recent = &mut self.recent;
        *(if row.completed { &mut recent.sessions_completed } else { &mut recent.sessions_lost }) += 1;
        self.write(|files| files.sessions.push(row));
    }

    pub(crate) fn lag(&mut self, lag: Span) {
        self.lag.record(lag);
    }

    pub(crate) fn lags(&self) -> &Histogram {
        &self.lag
    }

    pub(crate) fn refused(&mut self, error: &io::Error, exhausted: bool) {
        self.exhausted += u64::from(exhausted);
        self.last_refusal = Some(error.to_string());
    }

    pub(crate) fn sample(&mut self, time: Time, metric: &str, value: f64) {
        self.write(|files| {
            files.samples.push(SampleRow {
                time,
                host: Arc::clone(&files.host),
                viewpoint: Viewpoint::Client,
                metric: Arc::from(metric),
                label: Arc::from(""),
                value,
            })
        });
    }

    pub(crate) fn take_recent(&mut self) -> Recent {
        std::mem::take(&mut self.recent)
    }

    /// Whether the record could not be written, so that going on is in vain.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Completes the files.
    pub(crate) fn finish(&mut self) -> Result<(), record::Error> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if let Some(files) = self.files.take() {
            files.requests.finish()?;
            files.sessions.finish()?;
            files.samples.finish()?;
        }
        Ok(())
    }

    /// The first failure ends the writing; what is in the files by then is completed.
    fn write(&mut self, write: impl FnOnce(&mut Files) -> Result<(), record::Error>) {
        if let Some(files) = &mut self.files
            && let Err(failure) = write(files)
        {
            self.failure = Some(failure);
            self.files = None;
        }
    }
}
