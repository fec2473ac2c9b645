//! [`say!`](crate::runtime::log::say): lines for the operator, on standard error.
//!
//! Who reads standard error may be slow, or asleep: a pipe that is full lets its writer wait, and
//! with the event loop everybody would. So lines are written by a thread of their own. What it
//! cannot take is counted, and the count stands where the lines would have stood.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Writes a line for the operator, as `eprintln!` does after `gate: `, but never waits.
macro_rules! say {
    ($($text:tt)*) => { $crate::runtime::log::line(format_args!($($text)*)) };
}

pub(crate) use say;

/// Lines that may wait for the thread.
const WAITING: usize = 512;

/// Of the whole process, as standard error is.
static SPOOL: Spool = Spool::new();

pub(crate) fn line(text: fmt::Arguments<'_>) {
    let line = format!("gate: {text}\n");
    if let Some(line) = SPOOL.take(line) {
        // In one piece, so that lines of several processes do not mix. `eprintln!` would panic where
        // standard error has no reader any more (a pipe whose reader has ended), and take the task
        // with it that only wanted to mention something.
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// Lets a thread write from now on; before, the thread that says something writes it itself. A thread has
/// the rights that the process has when it starts, so rights are to be given up first.
///
/// # Errors
/// When the system gives no thread.
pub(crate) fn start() -> io::Result<Saying> {
    if !SPOOL.state().threaded {
        thread::Builder::new().name("say".to_owned()).spawn(|| SPOOL.write(&mut io::stderr()))?;
        SPOOL.state().threaded = true;
    }
    Ok(Saying)
}

/// Lines are written by a thread; dropped, it waits for them as [`finish_saying`] does.
#[derive(Debug)]
pub(crate) struct Saying;

impl Drop for Saying {
    fn drop(&mut self) {
        finish_saying();
    }
}

/// Waits until what the gate had to say is on standard error: for a process that is about to end
/// without leaving [`Bound::run`](crate::start::Bound::run), which waits as well. It does not wait for
/// long: standard error may have no reader.
pub fn finish_saying() {
    const WRITE_TIMEOUT: Duration = Duration::from_secs(1);
    SPOOL.wait_until_written(WRITE_TIMEOUT);
}

/// Lines on their way to the thread.
struct Spool {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    lines: VecDeque<String>,
    /// After these, for want of room.
    lost: u64,
    threaded: bool,
    writing: bool,
}

impl State {
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.lost == 0
    }

    fn count_lost(&mut self) {
        if self.lost > 0 {
            let lost = std::mem::take(&mut self.lost);
            self.lines
                .push_back(format!("gate: {lost} lines are missing here: standard error was not read\n"));
        }
    }
}

impl Spool {
    const fn new() -> Self {
        let state = State { lines: VecDeque::new(), lost: 0, threaded: false, writing: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No panic leaves it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a line for the thread; gives it back when there is no thread.
    fn take(&self, line: String) -> Option<String> {
        let mut state = self.state();
        if !state.threaded {
            return Some(line);
        }
        if state.lines.len() < WAITING {
            state.count_lost();
            state.lines.push_back(line);
        } else {
            state.lost += 1;
        }
        drop(state);
        self.changed.notify_all();
        None
    }

    /// Writes what comes, for as long as the process lives.
    fn write(&self, to: &mut impl Write) -> ! {
        loop {
            let waits = |state: &mut State| state.is_empty();
            let waited = self.changed.wait_while(self.state(), waits);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner);
            if state.lines.is_empty() {
                state.count_lost();
            }
            let line = state.lines.pop_front().unwrap_or_default();
            state.writing = true;
            drop(state);
            let _ = to.write_all(line.as_bytes());
            self.state().writing = false;
            self.changed.notify_all();
        }
    }

    fn wait_until_written(&self, longest: Duration) {
        let unwritten = |state: &mut State| state.threaded && (state.writing || !state.is_empty());
        // When it takes too long, the rest is lost.
        let _ = self.changed.wait_timeout_while(self.state(), longest, unwritten);
    }
}
