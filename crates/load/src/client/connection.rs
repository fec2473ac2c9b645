//! [`Connection`]: an HTTP/1 connection that we open ourselves, so that its phases can be told.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use record::RequestError;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, getsockname, socket_with, sockopt,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;
use units::Time;

use crate::client::context::Engine;
use crate::client::sock_diag::SocketDiagnosis;
use crate::engine::reactor::Reactor;
use crate::engine::socket::Socket;
use crate::engine::stream::Stream;
use crate::settings::target::Address;

/// What is read in one go.
const MOST_AT_ONCE: usize = 64 * 1024;

/// After so many reads without a pause others have their turn, and time is looked at: a server
/// that sends faster than we read must not hold up the rest.
const READS_AT_ONCE: u32 = 16;

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
    pub(crate) const fn plain(socket: Socket, number: u64) -> Self {
        Self { transport: Transport::Plain(socket), number, requests: 0 }
    }

    pub(crate) fn encrypted(stream: TlsStream<Stream>, number: u64) -> Self {
        let received = vec![0; MOST_AT_ONCE];
        Self { transport: Transport::Tls(Box::new(Encrypted { stream, received })), number, requests: 0 }
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

    /// Whether what arrives from now on is an answer to something.
    pub(crate) fn expect(&self, expecting: bool) {
        if let Transport::Plain(socket) = &self.transport {
            socket.expect(expecting);
        }
    }

    /// Writes a request.
    pub(crate) async fn send(&mut self, head: Bytes, body: Option<&Bytes>) -> Result<(), RequestError> {
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
                    write_all(&mut tls.stream, piece).await.map_err(|_| RequestError::Reset)?;
                }
                Ok(())
            }
        }
    }

    /// Has `take` look at bytes as they arrive, with the time, until it has what it wants. It is
    /// called with no bytes when the server has closed the connection.
    pub(crate) async fn receive<R>(
        &mut self,
        mut take: impl FnMut(Time, &[u8]) -> Result<Option<R>, RequestError>,
        engine: &Engine,
    ) -> Result<R, RequestError> {
        loop {
            let mut left = READS_AT_ONCE;
            let done = poll_fn(|context| {
                while left > 0 {
                    let Poll::Ready(taken) = self.poll_bytes(context, engine, &mut take) else {
                        left = READS_AT_ONCE;
                        return Poll::Pending;
                    };
                    left -= 1;
                    if let Some(done) = taken.unwrap_or(Err(RequestError::Reset))? {
                        return Poll::Ready(Ok(Some(done)));
                    }
                }
                Poll::Ready(Ok(None))
            });
            if let Some(done) = done.await? {
                return Ok(done);
            }
            engine.until(engine.now()).await;
        }
    }

    fn poll_bytes<R>(
        &mut self,
        context: &mut Context<'_>,
        engine: &Engine,
        take: &mut impl FnMut(Time, &[u8]) -> R,
    ) -> Poll<io::Result<R>> {
        match &mut self.transport {
            Transport::Plain(socket) => {
                let polled = ready!(socket.poll_receive(context, MOST_AT_ONCE, &mut *take))?;
                Poll::Ready(Ok(polled.unwrap_or_else(|| take(engine.now(), &[]))))
            }
            Transport::Tls(tls) => {
                let mut buffer = ReadBuf::new(&mut tls.received);
                ready!(Pin::new(&mut tls.stream).poll_read(context, &mut buffer))?;
                Poll::Ready(Ok(take(engine.now(), buffer.filled())))
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

/// Begins the handshake. The socket is there from its first SYN on, so that it can be asked
/// about even when the handshake never ends. The flag tells whether it has ended already.
pub(crate) fn begin(
    reactor: &Rc<Reactor>,
    target: &Address,
    source: Option<IpAddr>,
    once: bool,
) -> io::Result<(Socket, bool)> {
    let (fd, connected) = match target {
        Address::Inet(target) => begin_inet(*target, source)?,
        Address::Unix(path) => {
            let fd = open(AddressFamily::UNIX)?;
            let connected = connect(&fd, &SocketAddrUnix::new(path)?);
            (fd, connected)
        }
    };
    let established = match connected {
        Ok(()) => true,
        Err(Errno::INPROGRESS) => false,
        Err(error) => return Err(error.into()),
    };
    Ok((Socket::new(Rc::clone(reactor), fd, once)?, established))
}

fn begin_inet(target: SocketAddr, source: Option<IpAddr>) -> io::Result<(OwnedFd, Result<(), Errno>)> {
    let fd = open(if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 })?;
    // A request is one small segment; it must not wait for another to fill up with.
    sockopt::set_tcp_nodelay(&fd, true)?;
    if let Some(source) = source {
        // Ports of connections that linger in TIME_WAIT may be taken again.
        sockopt::set_socket_reuseaddr(&fd, true)?;
        bind(&fd, &SocketAddr::new(source, 0))?;
    }
    let connected = connect(&fd, &target);
    Ok((fd, connected))
}

fn open(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(family, SocketType::STREAM, flags, None)?)
}

/// SYNs sent again; asked right after the handshake, or while it lasts.
pub(crate) fn syn_retransmits(socket: &Socket, diagnosis: Option<&SocketDiagnosis>, target: &Address) -> u32 {
    let (Some(diagnosis), Address::Inet(target)) = (diagnosis, target) else { return 0 };
    let local = socket.with_fd(|fd| getsockname(fd.as_fd())).and_then(Result::ok);
    let local = local.and_then(|local| SocketAddr::try_from(local).ok());
    local.and_then(|local| diagnosis.retransmits(local, *target)).unwrap_or(0)
}
