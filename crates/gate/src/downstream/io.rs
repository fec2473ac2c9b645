//! [`ClientIo`]: a client's socket that notes how the connection gets on.

use std::io;
use std::mem::MaybeUninit;
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
use crate::downstream::socket::Socket;
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

/// More than the rest of most requests that are answered before they have come, less than fills a line
/// for longer than connections linger.
const DISCARD: usize = 1024 * 1024 * 1024;
/// Thrown away in one turn: others have theirs.
const DISCARD_AT_ONCE: usize = 256 * 1024;
/// Read at once of that.
const DISCARDED_PIECE: usize = 16 * 1024;

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

    /// Whether the client has sent all that it wanted to, and nothing of it is left unread. Where there is TLS it may
    /// still say that it closes.
    fn is_done(&self, cx: &mut Context<'_>) -> bool {
        matches!(self.socket.inner(), Transport::Plain(_))
            && self.client.said_last.get()
            && self.filter.is_between_requests()
            && self.poll_readable(cx).is_pending()
    }

    /// The socket, if what is written now is the rest of the last response, and nothing but the connection's end
    /// follows.
    fn for_last_words(&mut self) -> Option<&mut Socket> {
        let last =
            self.client.said_last.get() && self.filter.is_between_requests() && self.client.phase().is_idle();
        match self.socket.inner_mut() {
            Transport::Plain(socket) if last => Some(socket),
            _ => None,
        }
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
        let in_body = io.filter.is_in_body();
        let read =
            io.filter.poll_read(Pin::new(io.socket.inner_mut()), cx, &mut buffer, io.client.answered.get());
        // The rest of a request that is answered already begins no other.
        let is_new = |read: &Poll<_>| (read.is_ready() && !in_body) || io.filter.is_in_head();
        if io.client.phase().is_idle() && is_new(&read) {
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

impl ClientIo {
    /// Writes interim responses. hyper knows nothing of them, so it must have nothing of its own unsent
    /// that began before them.
    fn poll_interim(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.client.interim.has_unwritten() {
            let socket = Pin::new(&mut self.socket);
            let written = self.client.interim.write(|bytes| socket.poll_write(cx, bytes));
            self.wrote(&written);
            if ready!(written)? == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
        // The task waits to go on with the response.
        self.client.task.wake();
        Poll::Ready(Ok(()))
    }
}

impl Write for ClientIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.client.interim.is_begun() {
            ready!(self.poll_interim(cx))?;
        }
        let written = match self.for_last_words() {
            Some(socket) => socket.poll_write_last(cx, &[io::IoSlice::new(bytes)]),
            None => Pin::new(&mut self.socket).poll_write(cx, bytes),
        };
        self.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.client.interim.is_begun() {
            ready!(self.poll_interim(cx))?;
        }
        let written = match self.for_last_words() {
            Some(socket) => socket.poll_write_last(cx, pieces),
            None => Pin::new(&mut self.socket).poll_write_vectored(cx, pieces),
        };
        self.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Called when everything there was to send has been written, if only to the TLS layer.
        if self.client.interim.has_unwritten() {
            ready!(self.poll_interim(cx))?;
        }
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
    /// (RFC 9112 section 9.6). A client that is done sends nothing more, and is not waited for.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.closed {
            if self.is_done(cx) {
                return Poll::Ready(Ok(()));
            }
            ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
            self.closed = true;
            self.client.enter(Phase::Lingering, self.clock.last());
        }
        let mut piece = [MaybeUninit::uninit(); DISCARDED_PIECE];
        let until = self.discarded + DISCARD_AT_ONCE;
        while self.discarded < DISCARD {
            if self.discarded >= until {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let mut buffer = ReadBuf::uninit(&mut piece);
            let read = Pin::new(self.socket.inner_mut()).poll_read(cx, &mut buffer)?;
            if read.is_pending() {
                self.client.waits(Awaited::Upload, self.clock.last());
                return Poll::Pending;
            }
            let length = buffer.filled().len();
            if length == 0 {
                break;
            }
            self.client.moved(Awaited::Upload, length);
            self.discarded += length;
        }
        Poll::Ready(Ok(()))
    }
}
