//! [`Clock`]: the only place of the gate that reads a clock.

use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use units::{Span, Time};

/// Monotonic time that began at the wall clock's, so that a session token written by one run of
/// the gate means the same to the next, and yet a step of the system clock does not make
/// the policy's time go back.
#[derive(Debug)]
pub(crate) struct Clock {
    began: Instant,
    offset: Time,
    last: Cell<Time>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::starting_at(Time::ZERO + Span::from(since_epoch))
    }

    /// A clock that shows `offset` now.
    pub(crate) fn starting_at(offset: Time) -> Self {
        Self { began: Instant::now(), offset, last: Cell::new(offset) }
    }

    /// Reads the clock: once for each thing that happens, and passed down from there.
    pub(crate) fn read(&self) -> Time {
        let now = self.offset + Span::from(self.began.elapsed());
        self.last.set(now);
        now
    }

    /// As it was last read. Housekeeping reads it several times a second, so this is near enough
    /// for timeouts that are counted in seconds, and free.
    pub(crate) fn last(&self) -> Time {
        self.last.get()
    }
}
