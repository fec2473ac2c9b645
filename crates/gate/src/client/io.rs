//! [`ClientIo`]: a client's socket that notes how the connection gets on.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

use super::{Client, Phase};
use crate::clock::Clock;

/// A client's socket.
pub(crate) struct ClientIo {
    socket: TokioIo<TcpStream>,
    client: Rc<Client>,
    clock: Rc<Clock>,
    /// Bytes thrown away after the last response.
    discarded: usize,
}

/// More than any request's pipelined followers, less than anybody needs to be served.
const DISCARD: usize = 256 * 1024;

impl ClientIo {
    pub(crate) fn new(socket: TcpStream, client: Rc<Client>, clock: Rc<Clock>) -> Self {
        Self { socket: TokioIo::new(socket), client, clock, discarded: 0 }
    }

    /// Sends what fits into the socket's buffer now.
    pub(crate) fn last_words(&self, text: &[u8]) {
        // The client is about to lose the connection; if it takes nothing, so be it.
        let _ = self.socket.inner().try_write(text);
    }

    fn wrote(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Ready(Ok(bytes)) => self.client.sending.moved(*bytes),
            Poll::Ready(Err(_)) => self.client.sending.over(),
            Poll::Pending => self.client.sending.waits(self.clock.last()),
        }
    }
}

impl Read for ClientIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if read.is_ready() && self.client.phase().is_idle() {
            self.client.enter(Phase::Head, self.clock.last());
        }
        read
    }
}

impl Write for ClientIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, pieces);
        self.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Called when everything there was to send has been written.
        self.client.sending.over();
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    /// Closes our side and reads until the client closes its own. Closing with bytes unread would
    /// reset the connection, and a reset can overtake the response on its way to the client
    /// (RFC 9112 section 9.6).
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.client.phase() != Phase::Lingering {
            ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
            self.client.enter(Phase::Lingering, self.clock.last());
        }
        let mut piece = [0; 4096];
        while self.discarded < DISCARD {
            let mut buffer = ReadBuf::new(&mut piece);
            ready!(Pin::new(self.socket.inner_mut()).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                break;
            }
            self.discarded += buffer.filled().len();
        }
        Poll::Ready(Ok(()))
    }
}
