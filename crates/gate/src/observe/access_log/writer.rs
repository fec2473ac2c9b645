//! [`Writer`]: the thread that writes the access log, so that a slow disk does not hold up the event loop.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::observe::access_log::entry::Batch;
use crate::observe::access_log::line::LogLine;
use crate::runtime::log::say;
use gate_config::settings::operation::LogTo;

/// Batches that may wait for the thread. What comes on top is dropped and counted.
const WAITING: usize = 32;

enum Message {
    Write(Arc<Batch>),
    Reopen,
}

/// Counts of lines, which outlive a writer.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    written: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

impl Counts {
    /// Lines written; dropped because the writer did not keep up; lost because writing failed.
    pub(crate) fn read(&self) -> [(&'static str, u64); 3] {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        [("written", read(&self.written)), ("dropped", read(&self.dropped)), ("failed", read(&self.failed))]
    }
}

/// A thread that writes lines, and the channel to it.
#[derive(Debug)]
pub(crate) struct Writer {
    to: LogTo,
    messages: SyncSender<Message>,
    ended: Receiver<()>,
    counts: Arc<Counts>,
}

impl Writer {
    /// Opens the log.
    ///
    /// # Errors
    /// When the file cannot be opened or the system gives no thread.
    pub(crate) fn start(to: LogTo, classes: Arc<[String]>, counts: Arc<Counts>) -> io::Result<Self> {
        let out = Out::open(&to)?;
        let (messages, received) = sync_channel(WAITING);
        let (end, ended) = sync_channel(1);
        let mut pen =
            Pen { to: to.clone(), out, classes, counts: Arc::clone(&counts), told: None, torn: false };
        thread::Builder::new().name("access-log".to_owned()).spawn(move || {
            pen.write_all(&received);
            // The event loop may have stopped waiting.
            let _ = end.send(());
        })?;
        Ok(Self { to, messages, ended, counts })
    }

    pub(crate) fn to(&self) -> &LogTo {
        &self.to
    }

    /// Never waits: what the thread cannot take is dropped.
    pub(crate) fn write(&self, batch: Arc<Batch>) {
        if let Err(TrySendError::Full(message) | TrySendError::Disconnected(message)) =
            self.messages.try_send(Message::Write(batch))
            && let Message::Write(batch) = message
        {
            self.counts.dropped.fetch_add(batch.entries.len() as u64, Ordering::Relaxed);
        }
    }

    /// Opens the file again, after somebody has moved it away.
    pub(crate) fn reopen(&self) {
        // A thread that is so far behind opens the file again the next time it is asked.
        let _ = self.messages.try_send(Message::Reopen);
    }

    /// Lets the thread write what it was given, but for no longer than that.
    pub(crate) fn close(self, longest: Duration) {
        drop(self.messages);
        let _ = self.ended.recv_timeout(longest);
    }
}

enum Out {
    File(File),
    Stdout(io::Stdout),
}

impl Out {
    fn open(to: &LogTo) -> io::Result<Self> {
        match to {
            LogTo::Stdout => Ok(Self::Stdout(io::stdout())),
            LogTo::File(path) => open(path).map(Self::File),
        }
    }

    fn write_all(&mut self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.write_all(text),
            Self::Stdout(stdout) => {
                let mut stdout = stdout.lock();
                stdout.write_all(text)?;
                stdout.flush()
            }
        }
    }
}

/// Not blocking matters for a pipe: without a reader, opening or filling it would wait for ever.
fn open(path: &PathBuf) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    OpenOptions::new().append(true).create(true).mode(0o640).custom_flags(flags).open(path)
}

/// What the thread writes with.
struct Pen {
    to: LogTo,
    out: Out,
    classes: Arc<[String]>,
    counts: Arc<Counts>,
    /// When the operator was last told that writing fails.
    told: Option<Instant>,
    /// Whether the last line may have been written in part.
    torn: bool,
}

impl Pen {
    fn write_all(&mut self, received: &Receiver<Message>) {
        let mut text = Vec::new();
        for message in received {
            match message {
                Message::Write(batch) => self.write(&mut text, &batch),
                Message::Reopen => match Out::open(&self.to) {
                    Ok(out) => self.out = out,
                    Err(why) => {
                        say!("cannot open {} again: {why}; the old file stays in use", self.to)
                    }
                },
            }
        }
    }

    fn write(&mut self, text: &mut Vec<u8>, batch: &Batch) {
        text.clear();
        if self.torn {
            text.push(b'\n');
        }
        for entry in &batch.entries {
            // Writing into memory, of types that JSON has, cannot fail.
            let _ = serde_json::to_writer(&mut *text, &LogLine::new(entry, &self.classes, batch.offset));
            text.push(b'\n');
        }
        let lines = batch.entries.len() as u64;
        match self.out.write_all(text) {
            Ok(()) => {
                self.torn = false;
                self.counts.written.fetch_add(lines, Ordering::Relaxed);
            }
            Err(why) => {
                self.torn = true;
                self.counts.failed.fetch_add(lines, Ordering::Relaxed);
                self.tell(&why);
            }
        }
    }

    fn tell(&mut self, why: &io::Error) {
        const PAUSE: Duration = Duration::from_secs(60);
        if self.told.is_none_or(|told| told.elapsed() >= PAUSE) {
            self.told = Some(Instant::now());
            say!("cannot write to {}: {why}; lines are lost until it can be", self.to);
        }
    }
}
