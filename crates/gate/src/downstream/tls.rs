//! [`Tls`]: TLS on a listener, and [`Transport`]: a connection with it or without.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::server::Acceptor;
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::downstream::certificates::Certificates;
use crate::downstream::handshakes::Handshakes;
use crate::downstream::socket::Socket;
use gate_config::settings::listener::Protocols;

/// TLS on a listener: the versions and suites that rustls holds for safe.
#[derive(Debug)]
pub(crate) struct Tls {
    config: Arc<ServerConfig>,
}

/// What a client kept waiting in the TLS layer may cost, beside the kernel's buffers.
const UNSENT: usize = 32 * 1024;

impl Tls {
    /// Sessions are resumed by tickets, sealed with keys of this process that change every few hours,
    /// so that nothing is kept per client.
    pub(crate) fn new(certificates: Arc<Certificates>, protocols: Protocols) -> Result<Self, rustls::Error> {
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(certificates);
        config.alpn_protocols = protocols.names().map(|name| name.as_bytes().to_vec()).collect();
        config.ticketer = ring::Ticketer::new()?;
        Ok(Self { config: Arc::new(config) })
    }

    /// Makes a connection one of TLS. `None` when nothing came of it; the client was told why.
    pub(crate) async fn accept(
        &self,
        socket: Socket,
        handshakes: &Handshakes,
    ) -> Option<Box<TlsStream<Socket>>> {
        let hello = LazyConfigAcceptor::new(Acceptor::default(), socket).await;
        let Ok(hello) = hello else {
            handshakes.fail();
            return None;
        };
        let limited = |session: &mut rustls::ServerConnection| session.set_buffer_limit(Some(UNSENT));
        let stream = handshakes.run(hello.into_stream_with(Arc::clone(&self.config), limited)).await?;
        Some(Box::new(stream))
    }
}

/// A connection as HTTP sees it.
#[derive(Debug)]
pub(crate) enum Transport {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

impl Transport {
    /// Until there may be something to read, when the last read has found nothing.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Plain(socket) => socket.poll_readable(cx),
            // What had come was all decrypted to find nothing.
            Self::Tls(stream) => stream.get_ref().0.poll_readable(cx),
        }
    }
}

/// Calls a method of the connection, whichever it is.
macro_rules! of_transport {
    ($transport:ident.$method:ident($($argument:expr),*)) => {
        match $transport.get_mut() {
            Self::Plain(socket) => Pin::new(socket).$method($($argument),*),
            Self::Tls(stream) => Pin::new(&mut **stream).$method($($argument),*),
        }
    };
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        of_transport!(self.poll_read(cx, buffer))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        of_transport!(self.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        of_transport!(self.poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_transport!(self.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_transport!(self.poll_shutdown(cx))
    }
}
