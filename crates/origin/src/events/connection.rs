//! One connection of an event loop.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use socket2::Socket;

use crate::answer::{GENTLE_CLOSE, GENTLE_CLOSE_BYTES, Site, Then};
use crate::body::Body;
use crate::inbox::{Filled, Inbox};
use crate::intake::{CONTINUE, Intake, Taken};
use crate::response::{Responder, Sending};

/// Output collected before it is written, when requests are pipelined.
const BATCH_BYTES: usize = 64 * 1024;

/// Steps before other connections get their turn.
const STEPS: u32 = 64;

/// The times of one turn of the loop, and how long clients may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) now: Instant,
    pub(super) date: SystemTime,
    pub(super) keep_alive: Duration,
    pub(super) patience: Duration,
}

/// What all connections of a loop are answered from.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) site: Arc<Site>,
    pub(super) responder: Responder,
}

/// What the loop does with a connection after it was driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Waits for the next event.
    Wait,
    /// Has more to do than its share of this turn.
    Again,
    /// Is at its end.
    Close,
}

/// A connection and what is under way on it.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: Socket,
    /// When the loop gives the client up.
    pub(super) deadline: Instant,
    inbox: Inbox,
    intake: Intake,
    output: Vec<u8>,
    sent: usize,
    body: Body,
    then: Then,
    /// Nothing is in the socket's receive queue until the next event says so.
    emptied: bool,
    /// The client has finished sending; what it sent last may still be unread.
    pub(super) finished: bool,
    /// The response is sent; what still comes is read and dropped.
    draining: bool,
    drained: usize,
}

impl Connection {
    pub(super) fn new(stream: Socket, clock: &Clock) -> Self {
        Self {
            stream,
            deadline: clock.now + clock.patience,
            inbox: Inbox::new(),
            intake: Intake::default(),
            output: Vec::new(),
            sent: 0,
            body: Body::empty(),
            then: Then::KeepOpen,
            emptied: false,
            finished: false,
            draining: false,
            drained: 0,
        }
    }

    /// Reads, answers and writes until the socket has nothing more to give or takes no more.
    pub(super) fn drive(&mut self, source: &mut Source, clock: &Clock) -> Next {
        self.emptied = false;
        for _ in 0..STEPS {
            match self.step(source, clock) {
                Ok(Next::Again) => {}
                Ok(verdict) => return verdict,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Next::Wait,
                // The client reset the connection, or is gone in another way.
                Err(_) => return Next::Close,
            }
        }
        Next::Again
    }

    fn step(&mut self, source: &mut Source, clock: &Clock) -> io::Result<Next> {
        if self.draining {
            let count = (&self.stream).read(&mut [0; 4096])?;
            self.drained += count;
            let enough = count == 0 || self.drained >= GENTLE_CLOSE_BYTES;
            return Ok(if enough { Next::Close } else { Next::Again });
        }
        self.flush(clock)?;
        match self.then {
            Then::KeepOpen => {}
            Then::Close => return Ok(Next::Close),
            Then::CloseGently => {
                self.stream.shutdown(Shutdown::Write)?;
                self.draining = true;
                self.deadline = clock.now + GENTLE_CLOSE;
                return Ok(Next::Again);
            }
        }
        self.answer_pending(source, clock)?;
        if !self.output.is_empty() {
            return Ok(Next::Again);
        }
        if self.emptied {
            return Ok(Next::Wait);
        }
        let begins = self.inbox.pending().is_empty();
        match self.inbox.fill(&mut &self.stream)? {
            Filled::End => return Ok(Next::Close),
            // A read that left room has emptied the socket; the next byte makes a new event, so the
            // read that would only say "nothing there" is saved (epoll(7), question 9). The end of
            // the stream makes no event after the one that announced it.
            Filled::Some => self.emptied = !self.finished,
            Filled::Full => {}
        }
        if begins {
            self.deadline = clock.now + clock.patience;
        }
        Ok(Next::Again)
    }

    /// Answers the requests that are complete, as far as their responses fit one batch.
    fn answer_pending(&mut self, source: &mut Source, clock: &Clock) -> io::Result<()> {
        while self.then == Then::KeepOpen && self.output.len() < BATCH_BYTES && self.body.left() == 0 {
            let pending = self.inbox.pending();
            if pending.is_empty() {
                break;
            }
            let (used, taken) = self.intake.take(&source.site, pending);
            self.inbox.consume(used);
            match taken {
                Taken::Partial => break,
                Taken::Continue => self.output.extend_from_slice(CONTINUE),
                Taken::Request(answer) => {
                    let sending = source.responder.write(answer, None, clock.date, &mut self.output)?;
                    let Sending { body, then, .. } = sending;
                    (self.body, self.then) = (body, then);
                }
            }
        }
        Ok(())
    }

    /// Sends the output and the rest of the body; fails with `WouldBlock` when the client is slower.
    fn flush(&mut self, clock: &Clock) -> io::Result<()> {
        if self.output.is_empty() {
            return Ok(());
        }
        while let Some(rest) = self.output.get(self.sent..).filter(|rest| !rest.is_empty()) {
            self.sent += (&self.stream).write(rest)?;
            self.deadline = clock.now + clock.patience;
        }
        while self.body.left() > 0 {
            self.body.send(&self.stream, self.body.left())?;
            self.deadline = clock.now + clock.patience;
        }
        self.output.clear();
        self.sent = 0;
        self.deadline = clock.now + clock.keep_alive;
        Ok(())
    }
}
