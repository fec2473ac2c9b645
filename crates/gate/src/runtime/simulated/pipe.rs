//! [`Pipe`]: one direction of a connection.

use std::collections::VecDeque;
use std::task::Waker;

use tokio::time::Instant;

use super::slot::Slot;

/// One direction of a connection.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) pieces: Slot<VecDeque<Piece>>,
    /// Bytes in `pieces`.
    pub(super) under_way: Slot<usize>,
    /// When the last piece arrives: none overtakes another.
    pub(super) last: Slot<Instant>,
    pub(super) end: Slot<Option<End>>,
    pub(super) small: bool,
    /// Bytes until the fault of this connection, and what it is.
    pub(super) fault: Slot<Option<(usize, Fault)>>,
    pub(super) silent: Slot<bool>,
    /// The reading end was dropped.
    pub(super) unread: Slot<bool>,
    pub(super) reader: Slot<Option<Waker>>,
    pub(super) writer: Slot<Option<Waker>>,
}

#[derive(Debug)]
pub(super) struct Piece {
    pub(super) arrives: Instant,
    pub(super) bytes: Vec<u8>,
    pub(super) taken: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    Reset,
    Silence,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    /// No more bytes after those under way.
    Finished(Instant),
    /// What is under way is lost.
    Reset(Instant),
}

impl Pipe {
    pub(super) fn new(small: bool) -> Self {
        Self {
            pieces: Slot::default(),
            under_way: Slot::new(0),
            last: Slot::new(Instant::now()),
            end: Slot::new(None),
            small,
            fault: Slot::new(None),
            silent: Slot::new(false),
            unread: Slot::new(false),
            reader: Slot::default(),
            writer: Slot::default(),
        }
    }

    /// The first end counts; a reset comes after anything.
    pub(super) fn finish(&self, end: End) {
        match (self.end.get(), end) {
            (None, _) | (Some(End::Finished(_)), End::Reset(_)) if !self.silent.get() => {
                self.end.set(Some(end))
            }
            _ => {}
        }
        wake(&self.reader);
        wake(&self.writer);
    }

    pub(super) fn is_reset(&self, now: Instant) -> bool {
        matches!(self.end.get(), Some(End::Reset(at)) if at <= now)
    }
}

pub(super) fn wake(waker: &Slot<Option<Waker>>) {
    if let Some(waker) = waker.lock().take() {
        waker.wake();
    }
}
