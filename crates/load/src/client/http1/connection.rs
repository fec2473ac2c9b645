//! [`Connection`]: an HTTP/1 connection that we open ourselves, so that its phases can be told.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;
use units::Time;

use crate::client::attempt::{Attempt, Opened};
use crate::client::exchange::Fault;
use crate::engine::reactor::Reactor;
use crate::engine::socket::Socket;
use crate::engine::stream::Stream;

/// Bytes that are read in one go.
const MAX_READ: usize = 64 * 1024;

/// After so many reads without a pause others have their turn, and time is looked at: a server
/// that sends faster than we read must not hold up the rest.
const MAX_READS: u32 = 16;

#[derive(Debug)]
pub(crate) struct Connection {
    transport: Transport,
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
        Ok(Self { transport, number: attempt.connection, requests: 0 })
    }

    /// Whether an idle connection can no longer be used: it was closed, or the server sent
    /// something unasked.
    pub(crate) fn is_stale(&self) -> bool {
        match &self.transport {
            Transport::Plain(socket) => socket.is_stale(),
            // Session tickets come whenever the server likes; only reading tells them apart.
            Transport::Tls(tls) => tls.stream.get_ref().0.socket().has_ended(),
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

    /// Writes a request.
    pub(crate) async fn send(&mut self, head: Bytes, body: Option<&Bytes>) -> Result<(), Fault> {
        self.requests = self.requests.saturating_add(1);
        match &mut self.transport {
            Transport::Plain(socket) => {
                socket.send(head);
                if let Some(body) = body.filter(|body| !body.is_empty()) {
                    socket.send(body.clone());
                }
                Ok(())
            }
            Transport::Tls(tls) => {
                for piece in std::iter::once(&head).chain(body) {
                    write_all(&mut tls.stream, piece).await.map_err(|_| Fault::Broken)?;
                }
                Ok(())
            }
        }
    }

    /// Has `take` look at bytes as they arrive, with the time, until it has what it wants. It is
    /// called with no bytes when the server has closed the connection.
    pub(crate) async fn receive<R>(
        &mut self,
        reactor: &Reactor,
        mut take: impl FnMut(Time, &[u8]) -> Result<Option<R>, Fault>,
    ) -> Result<R, Fault> {
        loop {
            let mut left = MAX_READS;
            let done = poll_fn(|context| {
                while left > 0 {
                    let Poll::Ready(taken) = self.poll_bytes(context, reactor, &mut take) else {
                        left = MAX_READS;
                        return Poll::Pending;
                    };
                    left -= 1;
                    if let Some(done) = taken.unwrap_or(Err(Fault::Broken))? {
                        return Poll::Ready(Ok::<_, Fault>(Some(done)));
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

    fn poll_bytes<R>(
        &mut self,
        context: &mut Context<'_>,
        reactor: &Reactor,
        take: &mut impl FnMut(Time, &[u8]) -> R,
    ) -> Poll<io::Result<R>> {
        match &mut self.transport {
            Transport::Plain(socket) => {
                let polled = ready!(socket.poll_receive(context, MAX_READ, &mut *take))?;
                Poll::Ready(Ok(polled.unwrap_or_else(|| take(reactor.now(), &[]))))
            }
            Transport::Tls(tls) => {
                let mut buffer = ReadBuf::new(&mut tls.received);
                ready!(Pin::new(&mut tls.stream).poll_read(context, &mut buffer))?;
                Poll::Ready(Ok(take(reactor.now(), buffer.filled())))
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
