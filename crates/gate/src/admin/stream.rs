//! `GET /api/v1/events`: what happens, as it happens (server-sent events, WHATWG HTML section 9.2).

use std::future::Future as _;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep};

use crate::observe::events::Listener;
use crate::process::gate::Gate;

/// So often something is sent, for both sides to see that the other is there.
const PULSE: Duration = Duration::from_secs(15);
/// First of all, so that the client sees that it listens: how long to wait before it comes back.
const HELLO: &[u8] = b"retry: 2000\n: listening\n\n";
const ALIVE: &[u8] = b": alive\n\n";

/// Events for one client.
pub(super) struct Stream {
    gate: Rc<Gate>,
    listener: Rc<Listener>,
    greeted: bool,
    pulse: Pin<Box<Sleep>>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stream")
    }
}

impl Stream {
    pub(super) fn new(gate: &Rc<Gate>, listener: Rc<Listener>) -> Self {
        Self { gate: Rc::clone(gate), listener, greeted: false, pulse: Box::pin(sleep(PULSE)) }
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.greeted {
            self.greeted = true;
            return Poll::Ready(Some(Bytes::from_static(HELLO)));
        }
        if let Poll::Ready(event) = self.listener.poll_next(cx) {
            return Poll::Ready(event);
        }
        ready!(self.pulse.as_mut().poll(cx));
        self.pulse.as_mut().reset(Instant::now() + PULSE);
        Poll::Ready(Some(Bytes::from_static(ALIVE)))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.gate.events.leave(&self.listener);
    }
}
