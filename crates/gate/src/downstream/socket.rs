//! [`Socket`]: a client's socket, and what was read of it ahead of time.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::runtime::stream::Stream;

/// A client's socket. What was read ahead, the next reader gets first.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: Stream,
    ahead: Bytes,
}

/// Read ahead at once: most requests as a whole.
const PIECE: usize = 4096;

impl Socket {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, ahead: Bytes::new() }
    }

    /// What was read ahead.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.ahead
    }

    /// Takes bytes off what was read ahead.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.ahead.advance(bytes);
    }

    /// Until there may be something to read; whether it is an error, the next read says.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.ahead.is_empty() {
            return Poll::Ready(());
        }
        self.stream.poll_read_ready(cx).map(drop)
    }

    /// Writes what is followed by nothing but the end of our side.
    pub(crate) fn poll_write_last(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if length(pieces) > JOINED {
            return Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        }
        joined(pieces, |bytes| self.stream.poll_write_last(cx, bytes))
    }

    /// Reads ahead what there is, or waits for some; false when the client sends no more.
    pub(crate) async fn read_ahead(&mut self) -> io::Result<bool> {
        poll_fn(|cx| {
            let mut piece = [MaybeUninit::uninit(); PIECE];
            let mut piece = ReadBuf::uninit(&mut piece);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut piece))?;
            let piece = piece.filled();
            self.ahead = match self.ahead.len() {
                0 => Bytes::copy_from_slice(piece),
                _ => [&self.ahead, piece].concat().into(),
            };
            Poll::Ready(Ok(!piece.is_empty()))
        })
        .await
    }
}

/// Pieces of so few bytes, a head and a short body, are written as one: to copy them costs less
/// than the kernel takes for a list of pieces.
const JOINED: usize = 4096;

thread_local! {
    /// Where they are joined. Zeros on the stack would have to be written first each time.
    static JOIN: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(JOINED));
}

fn length(pieces: &[io::IoSlice<'_>]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum()
}

/// Does something with the pieces as one.
fn joined<T>(pieces: &[io::IoSlice<'_>], with: impl FnOnce(&[u8]) -> T) -> T {
    JOIN.with_borrow_mut(|joined| {
        joined.clear();
        pieces.iter().for_each(|piece| joined.extend_from_slice(piece));
        with(joined)
    })
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            return Pin::new(&mut self.get_mut().stream).poll_read(cx, buffer);
        }
        let length = self.ahead.len().min(buffer.remaining());
        buffer.put_slice(&self.ahead[..length]);
        self.ahead.advance(length);
        if self.ahead.is_empty() {
            // The memory goes back at once: connections live long.
            self.ahead = Bytes::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.get_mut().stream);
        if length(pieces) > JOINED {
            return stream.poll_write_vectored(cx, pieces);
        }
        joined(pieces, |bytes| stream.poll_write(cx, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
