//! [`Stream`]: a socket in the shape that TLS and HTTP/2 libraries want.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::engine::socket::Socket;

/// Pieces that may wait to be written before the writer has to wait.
const MAX_UNSENT: usize = 16;
/// Of HTTP/2, bytes read before it is the turn of other tasks. What the tasks of a connection's requests have not taken yet is
/// kept by the frame, and a hostile server's frames are small: one of 13 bytes takes about a kilobyte of memory.
const TURN: usize = 16 * 1024;
/// So many turns before it is that of all else that the thread waits for.
const TURNS: usize = 16;

#[derive(Debug)]
pub(crate) struct Stream {
    socket: Socket,
    turns: Option<Turns>,
}

/// What is read without anything else having its turn.
#[derive(Debug, Default)]
struct Turns {
    bytes: usize,
    turns: usize,
}

impl Stream {
    pub(crate) fn new(socket: Socket) -> Self {
        socket.expect_response();
        Self { socket, turns: None }
    }

    /// Other tasks have their turn now and then from now on, also where there is always something to read.
    pub(crate) fn take_turns(&mut self) {
        self.turns = Some(Turns::default());
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Whether it is the turn of others, which this task is woken after.
    fn is_others_turn(&mut self, context: &Context<'_>) -> bool {
        let Some(turns) = self.turns.as_mut().filter(|turns| turns.bytes >= TURN) else { return false };
        turns.bytes = 0;
        turns.turns += 1;
        if turns.turns < TURNS {
            context.waker().wake_by_ref();
        } else {
            turns.turns = 0;
            self.socket.wake_next_turn(context);
        }
        true
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_others_turn(context) {
            return Poll::Pending;
        }
        let (most, before) = (buffer.remaining(), buffer.filled().len());
        let polled = self.socket.poll_receive(context, most, |_, bytes| buffer.put_slice(bytes));
        if let Some(turns) = &mut self.turns {
            match polled {
                Poll::Ready(_) => turns.bytes += buffer.filled().len() - before,
                Poll::Pending => *turns = Turns::default(),
            }
        }
        polled.map_ok(drop)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.socket.unsent() >= MAX_UNSENT {
            ready!(self.socket.poll_sent(context));
        }
        self.socket.send(Bytes::copy_from_slice(bytes));
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // What was queued goes out without being asked.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
