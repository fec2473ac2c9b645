//! [`LastWords`]: a connection that is read to its end although nothing can be written to it any more.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A server that refuses an upload answers, closes, and resets, because it has not read all that was sent to it. What it
/// has said before lies there to be read; but the library that frames HTTP/2 writes first and gives the connection up
/// when that fails. So it is not told: what follows is thrown away, and the end of what there is to read is the end.
#[derive(Debug)]
pub(super) struct LastWords<T, H> {
    transport: T,
    /// Called when something has come.
    heard: H,
    hearing: Hearing,
}

/// Whether the server takes what is written.
#[derive(Debug)]
enum Hearing {
    Fine,
    /// Nothing can be written any more. When there is nothing more to wait for, once all is read that lay there.
    Deaf(Option<Pin<Box<Sleep>>>),
}

/// What was said before a reset is there to be read at once.
const LAST: Duration = Duration::from_millis(250);

impl<T, H> LastWords<T, H> {
    pub(super) fn of(transport: T, heard: H) -> Self {
        Self { transport, heard, hearing: Hearing::Fine }
    }

    fn is_deaf(&self) -> bool {
        matches!(self.hearing, Hearing::Deaf(_))
    }

    fn written<R>(&mut self, cx: &Context<'_>, done: Poll<io::Result<R>>, instead: R) -> Poll<io::Result<R>> {
        match done {
            Poll::Ready(Err(_)) => {
                self.hearing = Hearing::Deaf(None);
                // Reads are not asked for again of themselves.
                cx.waker().wake_by_ref();
                Poll::Ready(Ok(instead))
            }
            done => done,
        }
    }
}

impl<T: AsyncRead + Unpin, H: Fn() + Unpin> AsyncRead for LastWords<T, H> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        match (Pin::new(&mut this.transport).poll_read(cx, buffer), &mut this.hearing) {
            // Who has reset the connection says nothing more than what lies there.
            (Poll::Pending, Hearing::Deaf(end)) => {
                let end = end.get_or_insert_with(|| Box::pin(tokio::time::sleep(LAST)));
                end.as_mut().poll(cx).map(Ok)
            }
            (Poll::Pending, Hearing::Fine) => Poll::Pending,
            (read, _) => {
                (this.heard)();
                read
            }
        }
    }
}

impl<T: AsyncWrite + Unpin, H: Unpin> AsyncWrite for LastWords<T, H> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_deaf() {
            return Poll::Ready(Ok(bytes.len()));
        }
        let done = Pin::new(&mut self.transport).poll_write(cx, bytes);
        self.written(cx, done, bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let all = pieces.iter().map(|piece| piece.len()).sum();
        if self.is_deaf() {
            return Poll::Ready(Ok(all));
        }
        let done = Pin::new(&mut self.transport).poll_write_vectored(cx, pieces);
        self.written(cx, done, all)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_deaf() {
            return Poll::Ready(Ok(()));
        }
        let done = Pin::new(&mut self.transport).poll_flush(cx);
        self.written(cx, done, ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_deaf() {
            return Poll::Ready(Ok(()));
        }
        let done = Pin::new(&mut self.transport).poll_shutdown(cx);
        self.written(cx, done, ())
    }
}
