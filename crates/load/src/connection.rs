//! [`Connection`]: a TCP connection that we open ourselves, so that its phases can be told.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use record::RequestError;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

use crate::engine::Engine;
use crate::phases::Phases;
use crate::response::Response;

#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    /// Numbered in the order in which connections were begun.
    pub(crate) number: u64,
    /// How many requests it has carried.
    pub(crate) requests: u32,
}

impl Connection {
    /// Begins the handshake. The connection is there from its first SYN on, so that it can be
    /// asked about even when the handshake never ends.
    pub(crate) fn begin(target: SocketAddr, number: u64, source: Option<IpAddr>) -> io::Result<Self> {
        let family = if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        // A request is one small segment; it must not wait for another to fill up with.
        sockopt::set_tcp_nodelay(&socket, true)?;
        if let Some(source) = source {
            // Ports of connections that linger in TIME_WAIT may be taken again.
            sockopt::set_socket_reuseaddr(&socket, true)?;
            bind(&socket, &SocketAddr::new(source, 0))?;
        }
        match connect(&socket, &target) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let stream = TcpStream::from_std(socket.into())?;
        Ok(Self { stream, number, requests: 0 })
    }

    /// Waits for the handshake to end.
    pub(crate) async fn established(&self) -> io::Result<()> {
        self.stream.writable().await?;
        match self.stream.take_error()? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// SYNs sent again; asked right after the handshake, or while it lasts.
    pub(crate) fn syn_retransmits(&self, engine: &Engine) -> u32 {
        let asked = engine.diagnosis.as_ref().zip(self.stream.local_addr().ok());
        asked.and_then(|(diagnosis, local)| diagnosis.retransmits(local, engine.address)).unwrap_or(0)
    }

    /// Whether an idle connection can no longer be used: it was closed, or the server sent
    /// something unasked.
    pub(crate) fn is_stale(&self) -> bool {
        let told_apart = self.stream.try_read(&mut [0]).map_err(|error| error.kind());
        told_apart != Err(io::ErrorKind::WouldBlock)
    }

    /// Writes the request that `compose` puts into the buffer.
    pub(crate) async fn send(
        &mut self,
        engine: &Engine,
        compose: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), RequestError> {
        self.requests = self.requests.saturating_add(1);
        let rest = {
            let mut request = engine.composed.borrow_mut();
            request.clear();
            compose(&mut request);
            let written = match self.stream.try_write(&request) {
                Ok(written) => written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(_) => return Err(RequestError::Reset),
            };
            request.get(written..).unwrap_or_default().to_vec()
        };
        if rest.is_empty() {
            return Ok(());
        }
        self.stream.write_all(&rest).await.map_err(|_| RequestError::Reset)
    }

    /// Reads until the response is complete.
    pub(crate) async fn receive(
        &mut self,
        engine: &Engine,
        phases: &mut Phases,
        response: &mut Response,
    ) -> Result<(), RequestError> {
        while !response.is_complete() {
            poll_fn(|context| self.poll_receive(context, engine, phases, response)).await?;
        }
        Ok(())
    }

    fn poll_receive(
        &mut self,
        context: &mut Context<'_>,
        engine: &Engine,
        phases: &mut Phases,
        response: &mut Response,
    ) -> Poll<Result<(), RequestError>> {
        let mut memory = engine.received.borrow_mut();
        let mut buffer = ReadBuf::new(&mut memory);
        if ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)).is_err() {
            return Poll::Ready(Err(RequestError::Reset));
        }
        if buffer.filled().is_empty() {
            return Poll::Ready(response.end());
        }
        phases.first_byte(engine.clock.now());
        Poll::Ready(response.feed(buffer.filled()))
    }
}

/// Whether the generator, rather than the server, is why there is no connection: it has no
/// descriptor or no port left.
pub(crate) fn is_exhaustion(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MFILE | Errno::NFILE | Errno::ADDRNOTAVAIL | Errno::NOBUFS | Errno::NOMEM)
    )
}
