//! [`Stream`]: a socket in the shape that TLS and HTTP/2 libraries want.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::engine::socket::Socket;

/// Pieces that may wait to be written before the writer has to wait.
const MAX_UNSENT: usize = 16;

#[derive(Debug)]
pub(crate) struct Stream(Socket);

impl Stream {
    pub(crate) fn new(socket: Socket) -> Self {
        socket.expect_response();
        Self(socket)
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.0
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let most = buffer.remaining();
        let read = ready!(self.0.poll_receive(context, most, |_, bytes| buffer.put_slice(bytes)));
        Poll::Ready(read.map(drop))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.0.unsent() >= MAX_UNSENT {
            ready!(self.0.poll_sent(context));
        }
        self.0.send(Bytes::copy_from_slice(bytes));
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
