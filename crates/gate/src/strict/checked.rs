//! [`Checked`]: a socket of which only well-formed HTTP/1 is read, for those who need no more.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use http1::request::{Limits, Stop};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::strict::filter::Filter;
use crate::strict::strictness::Strictness;

/// A socket of which only well-formed HTTP/1 is read.
pub(crate) struct Checked<S> {
    socket: TokioIo<S>,
    filter: Filter,
    told: bool,
}

impl<S> Checked<S> {
    pub(crate) fn new(socket: S, strictness: &Rc<Strictness>) -> Self {
        let filter = Filter::new(Rc::clone(strictness), Limits::default());
        Self { socket: TokioIo::new(socket), filter, told: false }
    }
}

impl<S: AsyncRead + Unpin> Read for Checked<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut to: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let checked = self.get_mut();
        // No client upgrades here, so what follows a request is another one.
        const ALL_ANSWERED: u64 = u64::MAX;
        let read = checked.filter.poll_read(Pin::new(checked.socket.inner_mut()), cx, &mut to, ALL_ANSWERED);
        if let (Poll::Pending, Some(Stop::Head(..))) = (&read, checked.filter.stop()) {
            if !std::mem::replace(&mut checked.told, true) {
                // No head begins so: hyper says so, in its turn, and closes.
                to.put_slice(b"\0");
            }
            return Poll::Ready(Ok(()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> Write for Checked<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
