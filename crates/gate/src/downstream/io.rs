//! [`ClientIo`]: a client's socket that notes how the connection gets on.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use http1::request::Limits;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use policy::connections::{Awaited, Phase};
use tokio::io::{AsyncRead, ReadBuf};

use crate::clients::client::Client;
use crate::clients::task::Calm;
use crate::downstream::tls::Transport;
use crate::runtime::clock::Clock;
use crate::strict::filter::Filter;
use crate::strict::strictness::Strictness;

/// A client's socket.
pub(crate) struct ClientIo {
    socket: TokioIo<Transport>,
    filter: Filter,
    client: Rc<Client>,
    clock: Rc<Clock>,
    /// Whether our side is closed.
    closed: bool,
    /// Bytes thrown away after the last response.
    discarded: usize,
}

/// More than any request's pipelined followers, less than anybody needs to be served.
const DISCARD: usize = 256 * 1024;

impl ClientIo {
    pub(crate) fn new(
        transport: Transport,
        client: Rc<Client>,
        clock: Rc<Clock>,
        strictness: Rc<Strictness>,
        limits: Limits,
    ) -> Self {
        let filter = Filter::new(strictness, limits);
        Self { socket: TokioIo::new(transport), filter, client, clock, closed: false, discarded: 0 }
    }

    /// The socket itself, and what has been read from it and not passed on.
    pub(crate) fn into_parts(self) -> (Transport, Vec<u8>) {
        (self.socket.into_inner(), self.filter.into_held())
    }

    /// Until there may be something to read.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.socket.inner().poll_readable(cx)
    }

    fn wrote(&self, written: &Poll<io::Result<usize>>) {
        self.client.blocked(written.is_pending());
        match written {
            Poll::Ready(Ok(bytes)) => self.client.moved(Awaited::Taking, *bytes),
            Poll::Ready(Err(_)) => self.client.over(Awaited::Taking),
            Poll::Pending => self.client.waits(Awaited::Taking, self.clock.last()),
        }
    }
}

impl Read for ClientIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let io = self.get_mut();
        if io.client.phase() == Phase::Tunnel {
            // What comes from now on is for the server, and only once the response has gone.
            return Poll::Pending;
        }
        if io.client.is_multiplexed() {
            return Pin::new(&mut io.socket).poll_read(cx, buffer);
        }
        let read =
            io.filter.poll_read(Pin::new(io.socket.inner_mut()), cx, &mut buffer, io.client.answered.get());
        if io.client.phase().is_idle() && (read.is_ready() || io.filter.is_in_head()) {
            io.client.enter(Phase::Head, io.clock.last());
        }
        let calm = read.is_pending() && io.filter.is_between_requests();
        io.client.task.calm.set(if calm { Calm::Yes } else { Calm::No });
        if let Some(stop) = io.filter.stop() {
            io.client.stop(stop);
        }
        if io.filter.waits() {
            io.client.wants_answer.set(true);
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
        // Called when everything there was to send has been written, if only to the TLS layer.
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        match &flushed {
            Poll::Ready(_) => self.client.over(Awaited::Taking),
            Poll::Pending => self.client.waits(Awaited::Taking, self.clock.last()),
        }
        self.client.blocked(flushed.is_pending());
        flushed
    }

    /// Closes our side and reads until the client closes its own. Closing with bytes unread would
    /// reset the connection, and a reset can overtake the response on its way to the client
    /// (RFC 9112 section 9.6).
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.closed {
            ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
            self.closed = true;
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
