//! Passing bytes both ways until both sides have ended, or nothing has moved for too long.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep};

use crate::tunnel::pipe::Pipe;
use crate::tunnel::tunnels::Tunnel;

/// Without a byte when one side has ended: most likely it is gone altogether, which shows only
/// when something is sent to it.
const HALF_CLOSED: Duration = Duration::from_secs(30);
/// Read at once.
const PIECE: usize = 16 * 1024;

impl Tunnel {
    /// Passes bytes on until the tunnel ends; `early` is what the client has sent since it asked.
    ///
    /// A side that has sent all goes on receiving. A gate that is told to stop lets tunnels live
    /// for its drain timeout: it cannot know how to end them in their own protocol.
    ///
    /// `is_told_to_close` says whether the client's connection is to be closed, and wakes the task when it is.
    pub(crate) async fn run(
        self,
        mut is_told_to_close: impl FnMut(&mut Context<'_>) -> bool,
        transport: impl AsyncRead + AsyncWrite,
        early: Vec<u8>,
    ) {
        let (mut transport, mut server) = (pin!(transport), pin!(self.server));
        let (mut there, mut back) = (Pipe::new(early), Pipe::new(self.said.into()));
        let mut idle = pin!(sleep(self.idle_timeout));
        let passed = &self.permit.tunnels.passed;
        let mut before = (0, false);
        // What is wrong with either side, the other sees by its end.
        let _: io::Result<()> = poll_fn(|cx| {
            if is_told_to_close(cx) {
                return Poll::Ready(Ok(()));
            }
            let mut scratch = [0; PIECE];
            let begun = [there.passed(), back.passed()];
            let sent = there.poll(cx, transport.as_mut(), server.as_mut(), &mut scratch)?;
            let received = back.poll(cx, server.as_mut(), transport.as_mut(), &mut scratch)?;
            let now = [there.passed(), back.passed()];
            for ((count, begun), now) in passed.iter().zip(begun).zip(now) {
                count.set(count.get() + now - begun);
            }
            if sent.is_ready() && received.is_ready() {
                return Poll::Ready(Ok(()));
            }
            let state = (now[0] + now[1], sent.is_ready() || received.is_ready());
            if state != before {
                before = state;
                let longest = if state.1 { self.idle_timeout.min(HALF_CLOSED) } else { self.idle_timeout };
                idle.as_mut().reset(Instant::now() + longest);
            }
            idle.as_mut().poll(cx).map(Ok)
        })
        .await;
    }
}
