//! [`Pulse`]: whether a client of HTTP/2 that says nothing is still there.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::{Ping, PingPong};
use tokio::time::{Instant, Sleep, sleep_until};

/// When something last came of a connection.
pub(super) type Heard = Rc<Cell<Instant>>;

/// Asks a client that has said nothing for a while whether it is there (RFC 9113 section 6.7).
pub(super) struct Pulse {
    pings: PingPong,
    heard: Heard,
    timer: Pin<Box<Sleep>>,
    /// How long it may be silent before it is asked, and then.
    interval: Duration,
    patience: Duration,
    /// Since when an answer is waited for.
    asked: Option<Instant>,
}

impl Pulse {
    pub(super) fn new(pings: PingPong, heard: Heard, interval: Duration, patience: Duration) -> Self {
        let timer = Box::pin(sleep_until(heard.get() + interval));
        Self { pings, heard, timer, interval, patience, asked: None }
    }

    /// Whether it has not answered in time.
    pub(super) fn poll_lost(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.asked.is_some() && matches!(self.pings.poll_pong(cx), Poll::Ready(Ok(_))) {
                self.asked = None;
                self.timer.as_mut().reset(self.heard.get() + self.interval);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let now = Instant::now();
            match self.asked {
                Some(asked) if now >= asked + self.patience => return Poll::Ready(()),
                Some(asked) => self.timer.as_mut().reset(asked + self.patience),
                None if now < self.heard.get() + self.interval => {
                    self.timer.as_mut().reset(self.heard.get() + self.interval);
                }
                // When it cannot be asked, the connection is ending.
                None if self.pings.send_ping(Ping::opaque()).is_err() => return Poll::Pending,
                None => {
                    self.asked = Some(now);
                    self.timer.as_mut().reset(now + self.patience);
                }
            }
        }
    }
}
