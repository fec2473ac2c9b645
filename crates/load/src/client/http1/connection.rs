//! [`Connection`]: an HTTP/1 connection that we open ourselves, so that its phases can be told.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;
use units::{Span, Time};

use crate::client::attempt::{Attempt, Opened};
use crate::client::context::ThreadContext;
use crate::client::fault::{self, Fault};
use crate::client::http1::behind::{self, Behind};
use crate::client::sock_diag::TcpInfo;
use crate::engine::reactor::Reactor;
use crate::engine::slot::{Arrived, Want};
use crate::engine::socket::Socket;
use crate::engine::stream::Stream;

/// Bytes that are read in one go.
const MAX_READ: usize = 64 * 1024;

/// What leaves at once on any connection (RFC 6928: ten segments, of which the smallest usual ones have 1448 bytes).
const FIRST_FLIGHT: usize = 14_480;

/// Between two questions to the kernel whether a body has arrived.
const SHORTEST_PAUSE: Span = Span::from_micros(50);

/// After so many reads without a pause others have their turn, and time is looked at: a server
/// that sends faster than we read must not hold up the rest.
const MAX_READS: u32 = 16;

/// What is told of a connection while a response is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event<'a> {
    /// The last byte of what was to be sent is on its way.
    Sent,
    /// Bytes that arrived.
    Bytes(&'a [u8]),
    /// So many bytes arrived of those that were only to be counted.
    Discarded(u64),
    /// The server has closed the connection, and nothing was cut off.
    Closed,
    /// The connection has ended without a word: TLS would say so, and what came last may not be the end (RFC 9112,
    /// section 9.8).
    Cut,
}

/// What a response is to be received of next.
#[derive(Debug)]
pub(crate) enum Next<R> {
    /// All of it is there.
    Done(R),
    /// The next bytes, of which so many are only counted.
    More { discard: u64 },
}

#[derive(Debug)]
pub(crate) struct Connection {
    transport: Transport,
    /// How many of the next bytes are only counted.
    discard: u64,
    /// What of bodies is still to be sent.
    upload: Option<Upload>,
    /// Numbered in the order in which connections were begun.
    pub(crate) number: u64,
    /// How many requests it has carried.
    pub(crate) requests: u32,
}

#[derive(Debug)]
enum Transport {
    Plain(Socket),
    Tls(Box<Encrypted>),
}

#[derive(Debug)]
struct Encrypted {
    stream: TlsStream<Stream>,
    received: Vec<u8>,
}

impl Transport {
    fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.stream.get_ref().0.socket(),
        }
    }
}

impl Connection {
    /// Opens a connection for the request of `attempt`, up to the moment at which it can be written.
    pub(crate) async fn open(attempt: &mut Attempt<'_>) -> Result<Self, Fault> {
        let transport = match attempt.connect().await? {
            Opened::Plain(socket) => Transport::Plain(socket),
            Opened::Tls(stream) => {
                Transport::Tls(Box::new(Encrypted { stream: *stream, received: vec![0; MAX_READ] }))
            }
        };
        attempt.exchange.connected(attempt.thread.now());
        Ok(Self { transport, discard: 0, upload: None, number: attempt.connection, requests: 0 })
    }

    /// Whether an idle connection can no longer be used: it was closed, the server sent something unasked, or it has
    /// answered before it had the whole request.
    pub(crate) fn is_stale(&mut self) -> bool {
        self.upload.is_some()
            || match &self.transport {
                Transport::Plain(socket) => socket.is_stale(),
                // Session tickets come whenever the server likes; only reading tells them apart.
                Transport::Tls(_) => self.behind() != Behind::Nothing,
            }
    }

    /// A response has been received; another may begin.
    pub(crate) fn end_response(&self) {
        if let Transport::Plain(socket) = &self.transport {
            socket.end_response();
        }
    }

    /// So many of the next bytes are only counted.
    pub(crate) fn discard_next(&mut self, bytes: u64) {
        self.discard = bytes;
    }

    /// What has arrived and was not taken.
    pub(crate) fn behind(&mut self) -> Behind {
        match &mut self.transport {
            Transport::Plain(socket) => {
                let mut bytes = [0; behind::MAX_LOOKED_AT];
                let length = socket.peek(&mut bytes);
                Behind::of(bytes.get(..length).unwrap_or_default())
            }
            Transport::Tls(tls) => {
                let mut buffer = ReadBuf::new(&mut tls.received);
                let read =
                    Pin::new(&mut tls.stream).poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer);
                match read {
                    Poll::Ready(Ok(())) if !buffer.filled().is_empty() => Behind::of(buffer.filled()),
                    Poll::Ready(_) => Behind::Farewell,
                    Poll::Pending => Behind::Nothing,
                }
            }
        }
    }

    /// What arrives from now on is an answer to something.
    pub(crate) fn expect_response(&self) {
        if let Transport::Plain(socket) = &self.transport {
            socket.expect_response();
        }
    }

    /// What arrives from now on was not asked for.
    pub(crate) fn expect_nothing(&self) {
        if let Transport::Plain(socket) = &self.transport {
            socket.expect_nothing();
        }
    }

    /// Writes a request. A body, which is not empty, is on its way when [`Event::Sent`] says so.
    pub(crate) async fn send(&mut self, head: Bytes, body: Option<&Bytes>) -> Result<(), Fault> {
        self.requests = self.requests.saturating_add(1);
        match &mut self.transport {
            Transport::Plain(socket) => {
                let head_length = head.len();
                socket.send(head);
                if let Some(body) = body {
                    let length = head_length + body.len();
                    socket.send(body.clone());
                    self.upload.get_or_insert_default().length += length;
                }
            }
            Transport::Tls(tls) => match (&mut self.upload, body) {
                (None, None) => {
                    let written = write_all(&mut tls.stream, &head).await;
                    written.map_err(|error| Fault::Broken(fault::of_io(&error)))?;
                }
                (upload, body) => {
                    let upload = upload.get_or_insert_default();
                    upload.length += head.len() + body.map_or(0, Bytes::len);
                    upload.pieces.extend(std::iter::once(head).chain(body.cloned()));
                }
            },
        }
        Ok(())
    }

    /// Tells `take` what happens, with the time, until it has what it wants.
    pub(crate) async fn receive<R>(
        &mut self,
        thread: &ThreadContext,
        mut take: impl FnMut(Time, Event<'_>) -> Result<Next<R>, Fault>,
    ) -> Result<R, Fault> {
        let reactor = &thread.reactor;
        loop {
            let mut left = MAX_READS;
            let done = poll_fn(|context| {
                if let Some(upload) = &mut self.upload
                    && let Poll::Ready(sent) = upload.poll(context, &mut self.transport, thread)
                {
                    self.upload = None;
                    take(sent, Event::Sent)?;
                }
                while left > 0 {
                    let Poll::Ready(taken) = self.poll_event(context, reactor, &mut take) else {
                        left = MAX_READS;
                        return Poll::Pending;
                    };
                    left -= 1;
                    match taken.map_err(|error| Fault::Broken(fault::of_io(&error)))?? {
                        Next::Done(done) => {
                            self.discard = 0;
                            return Poll::Ready(Ok::<_, Fault>(Some(done)));
                        }
                        Next::More { discard } => self.discard = discard,
                    }
                }
                Poll::Ready(Ok(None))
            });
            if let Some(done) = done.await? {
                return Ok(done);
            }
            reactor.timers.until(reactor.now()).await;
        }
    }

    fn poll_event<R>(
        &mut self,
        context: &mut Context<'_>,
        reactor: &Reactor,
        take: &mut impl FnMut(Time, Event<'_>) -> R,
    ) -> Poll<io::Result<R>> {
        match &mut self.transport {
            Transport::Plain(socket) => {
                let received = |now, arrived: Arrived<'_>| match arrived {
                    Arrived::Bytes(bytes) => take(now, Event::Bytes(bytes)),
                    Arrived::Discarded(length) => take(now, Event::Discarded(length)),
                };
                let want = Want { most: MAX_READ, discard: self.discard };
                let polled = ready!(socket.poll_arrival(context, want, received))?;
                Poll::Ready(Ok(polled.unwrap_or_else(|| take(reactor.now(), Event::Closed))))
            }
            Transport::Tls(tls) => {
                let mut buffer = ReadBuf::new(&mut tls.received);
                let event = match ready!(Pin::new(&mut tls.stream).poll_read(context, &mut buffer)) {
                    Ok(()) if buffer.filled().is_empty() => Event::Closed,
                    Ok(()) => Event::Bytes(buffer.filled()),
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Event::Cut,
                    Err(error) => return Poll::Ready(Err(error)),
                };
                Poll::Ready(Ok(take(reactor.now(), event)))
            }
        }
    }
}

async fn write_all(stream: &mut TlsStream<Stream>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = poll_fn(|context| Pin::new(&mut *stream).poll_write(context, bytes)).await?;
        bytes = bytes.get(written..).unwrap_or_default();
    }
    poll_fn(|context| Pin::new(&mut *stream).poll_flush(context)).await
}

/// A body on its way: until the server's kernel has said that it has the last byte of it. What the kernel here has taken
/// may be megabytes that a slow line does not carry for seconds.
#[derive(Debug, Default)]
struct Upload {
    /// What TLS has not encrypted yet.
    pieces: VecDeque<Bytes>,
    /// Of all of it.
    length: usize,
    began: Option<Time>,
    /// When the kernel is asked next.
    asks: Option<Time>,
}

impl Upload {
    /// Goes on with it, and says when the last of it was on its way. Errors are found by who reads.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        transport: &mut Transport,
        thread: &ThreadContext,
    ) -> Poll<Time> {
        let began = *self.began.get_or_insert(thread.now());
        if let Transport::Tls(tls) = transport {
            while let Some(piece) = self.pieces.front_mut() {
                match ready!(Pin::new(&mut tls.stream).poll_write(context, piece)) {
                    Ok(written) if written < piece.len() => drop(piece.split_to(written)),
                    Ok(_) => drop(self.pieces.pop_front()),
                    Err(_) => return Poll::Ready(thread.now()),
                }
            }
            let _ = ready!(Pin::new(&mut tls.stream).poll_flush(context));
        }
        let socket = transport.socket();
        ready!(socket.poll_sent(context));
        let now = thread.now();
        if self.asks.is_some_and(|at| now < at) {
            return Poll::Pending;
        }
        let info = thread.diagnosis.as_ref().and_then(|diagnosis| socket.with_fd(|fd| diagnosis.of(fd))?);
        if info.is_none_or(TcpInfo::has_arrived) {
            // It left at once. That it has left may be noticed together with the response.
            let at_once = self.asks.is_none() && self.length <= FIRST_FLIGHT;
            return Poll::Ready(if at_once { began } else { now });
        }
        // Often enough for an error of a sixteenth.
        let next = now + (now.since(began) / 16).max(SHORTEST_PAUSE);
        self.asks = Some(next);
        thread.reactor.timers.wake_at(next, context);
        Poll::Pending
    }
}
