//! [`Writer`]: the files of the record, on a thread of their own, so that encoding rows does not
//! hold up requests.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use catalogue::Metric;
use record::{RequestRow, RunDirectory, SampleRow, SessionRow, TableWriter};
use units::Time;

use crate::measure::recorder::Rows;
use tui::give_way;

/// Batches that may wait. When the disk is slower than the server for long, threads wait for it,
/// and their lag says so.
const MAX_WAITING: usize = 256;

pub(crate) struct Writer {
    rows: SyncSender<Rows>,
    thread: JoinHandle<Result<(), record::Error>>,
    samples: TableWriter<SampleRow>,
    host: Arc<str>,
}

impl Writer {
    /// Writes into `directory`; `host` is this machine's name.
    pub(crate) fn start(directory: &RunDirectory, host: &str) -> Result<Self, record::Error> {
        let requests = directory.write_requests()?;
        let sessions = directory.write_sessions()?;
        let (rows, given) = sync_channel(MAX_WAITING);
        let thread = std::thread::spawn(move || {
            give_way();
            write(requests, sessions, &given)
        });
        Ok(Self { rows, thread, samples: directory.write_samples()?, host: Arc::from(host) })
    }

    pub(crate) fn rows(&self) -> SyncSender<Rows> {
        self.rows.clone()
    }

    /// Whether the record could not be written, so that going on is in vain.
    pub(crate) fn has_failed(&self) -> bool {
        self.thread.is_finished()
    }

    pub(crate) fn sample(&mut self, time: Time, metric: Metric, value: f64) -> Result<(), record::Error> {
        self.samples.push(SampleRow::of(metric, Arc::from(""), time, Arc::clone(&self.host), value))
    }

    /// Completes the files. All other senders of rows have been dropped.
    pub(crate) fn finish(self) -> Result<(), record::Error> {
        drop(self.rows);
        let written = self.thread.join();
        self.samples.finish()?;
        // A panic has been told on standard error already.
        written.unwrap_or(Ok(()))
    }
}

/// The first failure ends the writing; what is in the files by then is completed.
fn write(
    mut requests: TableWriter<RequestRow>,
    mut sessions: TableWriter<SessionRow>,
    given: &Receiver<Rows>,
) -> Result<(), record::Error> {
    for rows in given {
        match rows {
            Rows::Requests(rows) => rows.into_iter().try_for_each(|row| requests.push(row))?,
            Rows::Sessions(rows) => rows.into_iter().try_for_each(|row| sessions.push(row))?,
        }
    }
    requests.finish()?;
    sessions.finish()
}
