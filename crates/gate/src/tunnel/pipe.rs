//! [`Pipe`]: one direction of a tunnel.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes on their way from one side to the other. An idle one holds no memory.
#[derive(Debug)]
pub(super) struct Pipe {
    /// Read and not yet written, from `written` on.
    rest: Vec<u8>,
    written: usize,
    state: State,
    passed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The one side has come to its end, which the other is to be told.
    Closing,
    Closed,
}

impl Pipe {
    /// Of which `first` was read already.
    pub(super) fn new(first: Vec<u8>) -> Self {
        Self { rest: first, written: 0, state: State::Open, passed: 0 }
    }

    /// Bytes passed on.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// Passes on what there is, until the end. What cannot be written at once is kept, and no more
    /// is read before it has gone.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut from: Pin<&mut impl AsyncRead>,
        mut to: Pin<&mut impl AsyncWrite>,
        scratch: &mut [u8],
    ) -> Poll<io::Result<()>> {
        loop {
            while self.written < self.rest.len() {
                let written = ready!(to.as_mut().poll_write(cx, &self.rest[self.written..]))?;
                self.wrote(written)?;
                self.written += written;
            }
            if self.written > 0 {
                (self.rest, self.written) = (Vec::new(), 0);
            }
            match self.state {
                State::Open => {
                    let mut piece = ReadBuf::new(scratch);
                    if from.as_mut().poll_read(cx, &mut piece)?.is_pending() {
                        ready!(to.as_mut().poll_flush(cx))?;
                        return Poll::Pending;
                    }
                    let piece = piece.filled();
                    if piece.is_empty() {
                        self.state = State::Closing;
                        continue;
                    }
                    let written = match to.as_mut().poll_write(cx, piece)? {
                        Poll::Ready(written) => self.wrote(written).map(|()| written)?,
                        Poll::Pending => 0,
                    };
                    self.rest.extend_from_slice(&piece[written..]);
                }
                State::Closing => {
                    ready!(to.as_mut().poll_shutdown(cx))?;
                    self.state = State::Closed;
                }
                State::Closed => return Poll::Ready(Ok(())),
            }
        }
    }

    fn wrote(&mut self, bytes: usize) -> io::Result<()> {
        self.passed += bytes as u64;
        if bytes == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(()) }
    }
}
