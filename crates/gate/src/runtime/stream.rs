//! [`Stream`]: a connection, of a client or to a server. The gate reads and writes nothing else.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::{SendFlags, send};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

#[cfg(feature = "simulate")]
use crate::runtime::simulated::SimulatedStream;

/// A connection without TLS.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    #[cfg(feature = "simulate")]
    Simulated(Box<SimulatedStream>),
}

/// Does something with the stream, whichever it is.
macro_rules! of_stream {
    ($stream:expr, $inner:ident => $done:expr) => {
        match $stream {
            Stream::Tcp($inner) => $done,
            Stream::Unix($inner) => $done,
            #[cfg(feature = "simulate")]
            Stream::Simulated($inner) => $done,
        }
    };
}

impl Stream {
    /// Until there may be something to read.
    pub(crate) fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_stream!(self, stream => stream.poll_read_ready(cx))
    }

    /// Writes what is followed by nothing but the end of our side. TCP holds the last segment of it back for that
    /// (`MSG_MORE`, for 200 ms at most), so that both are one segment: one to send less, and one to be woken by.
    pub(crate) fn poll_write_last(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self::Tcp(stream) = self else { return Pin::new(self).poll_write(cx, bytes) };
        loop {
            ready!(stream.poll_write_ready(cx))?;
            let flags = SendFlags::MORE | SendFlags::NOSIGNAL;
            match stream.try_io(Interest::WRITABLE, || Ok(send(&*stream, bytes, flags)?)) {
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
                sent => return Poll::Ready(sent),
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        of_stream!(self.get_mut(), stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        of_stream!(self.get_mut(), stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        of_stream!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        of_stream!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_stream!(self.get_mut(), stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_stream!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(cx))
    }
}
