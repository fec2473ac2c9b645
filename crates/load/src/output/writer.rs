//! [`Writer`]: the files of the record, on a thread of their own, so that encoding rows does not
//! hold up requests.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use catalogue::Metric;
use record::{RequestRow, RunDirectory, SampleRow, SessionRow, TableWriter, Timestamp};
use units::Time;

use crate::measure::recorder::Rows;
use crate::output::error::OutputError;
use crate::output::requests::RequestsCsv;
use tui::give_way;

/// Batches that may wait. When the disk is slower than the server for long, threads wait for it,
/// and their lag says so.
const MAX_WAITING: usize = 256;

pub(crate) struct Writer {
    rows: SyncSender<Rows>,
    thread: JoinHandle<Result<(), OutputError>>,
    samples: Option<TableWriter<SampleRow>>,
    host: Arc<str>,
}

/// Where rows go.
struct Sinks {
    requests: Option<TableWriter<RequestRow>>,
    sessions: Option<TableWriter<SessionRow>>,
    csv: Option<RequestsCsv>,
}

/// The files, open, before the run begins.
pub(crate) struct Files {
    sinks: Sinks,
    samples: Option<TableWriter<SampleRow>>,
}

impl Files {
    /// In `directory`, and requests as CSV too. `None` where nothing is to be written.
    pub(crate) fn create(
        directory: Option<&RunDirectory>,
        csv: Option<RequestsCsv>,
    ) -> Result<Option<Self>, OutputError> {
        if directory.is_none() && csv.is_none() {
            return Ok(None);
        }
        let sinks = Sinks {
            requests: directory.map(RunDirectory::write_requests).transpose()?,
            sessions: directory.map(RunDirectory::write_sessions).transpose()?,
            csv,
        };
        Ok(Some(Self { sinks, samples: directory.map(RunDirectory::write_samples).transpose()? }))
    }
}

impl Writer {
    /// Writes what a run has to tell that `started` then; `host` is this machine's name.
    pub(crate) fn start(files: Files, started: Timestamp, host: &str) -> Self {
        let Files { mut sinks, samples } = files;
        if let Some(csv) = &mut sinks.csv {
            csv.starts(started);
        }
        let (rows, given) = sync_channel(MAX_WAITING);
        let thread = std::thread::spawn(move || {
            give_way();
            sinks.write(&given)
        });
        Self { rows, thread, samples, host: Arc::from(host) }
    }

    pub(crate) fn rows(&self) -> SyncSender<Rows> {
        self.rows.clone()
    }

    /// Whether the record could not be written, so that going on is in vain.
    pub(crate) fn has_failed(&self) -> bool {
        self.thread.is_finished()
    }

    pub(crate) fn sample(&mut self, time: Time, metric: Metric, value: f64) -> Result<(), record::Error> {
        let Some(samples) = &mut self.samples else { return Ok(()) };
        samples.push(SampleRow::of(metric, Arc::from(""), time, Arc::clone(&self.host), value))
    }

    /// Completes the files. All other senders of rows have been dropped.
    pub(crate) fn finish(self) -> Result<(), OutputError> {
        drop(self.rows);
        let written = self.thread.join();
        self.samples.map_or(Ok(()), TableWriter::finish)?;
        // A panic has been told on standard error already.
        written.unwrap_or(Ok(()))
    }
}

impl Sinks {
    /// The first failure ends the writing; what is in the files by then is completed.
    fn write(mut self, given: &Receiver<Rows>) -> Result<(), OutputError> {
        for rows in given {
            match rows {
                Rows::Requests(rows) => rows.into_iter().try_for_each(|row| self.request(row))?,
                Rows::Sessions(rows) => {
                    if let Some(sessions) = &mut self.sessions {
                        rows.into_iter().try_for_each(|row| sessions.push(row))?;
                    }
                }
            }
        }
        self.requests.map_or(Ok(()), TableWriter::finish)?;
        self.sessions.map_or(Ok(()), TableWriter::finish)?;
        self.csv.map_or(Ok(()), RequestsCsv::finish)
    }

    fn request(&mut self, row: RequestRow) -> Result<(), OutputError> {
        if let Some(csv) = &mut self.csv {
            csv.push(&row)?;
        }
        Ok(self.requests.as_mut().map_or(Ok(()), |requests| requests.push(row))?)
    }
}
