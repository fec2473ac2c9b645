//! [`Stream`]: a socket in the shape that TLS and HTTP/2 libraries want.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::engine::socket::Socket;

/// Pieces that may wait to be written before the writer has to wait.
const MAX_UNSENT: usize = 16;
/// Bytes read before it is the turn of other tasks. What the tasks of a connection's requests have not taken yet, HTTP/2
/// keeps by the frame, and a hostile server's frames are small: one of 13 bytes takes about a kilobyte of memory.
const TURN: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Stream {
    socket: Socket,
    /// Of [`TURN`], in this turn.
    read: usize,
}

impl Stream {
    pub(crate) fn new(socket: Socket) -> Self {
        socket.expect_response();
        Self { socket, read: 0 }
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read >= TURN {
            self.read = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let (most, before) = (buffer.remaining(), buffer.filled().len());
        let read = ready!(self.socket.poll_receive(context, most, |_, bytes| buffer.put_slice(bytes)));
        self.read += buffer.filled().len() - before;
        Poll::Ready(read.map(drop))
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
