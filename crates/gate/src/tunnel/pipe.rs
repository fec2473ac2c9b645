//! [`Pipe`]: one direction of a tunnel.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::tunnel::frames::Frames;

/// Bytes on their way from one side to the other. An idle one holds no memory.
#[derive(Debug)]
pub(super) struct Pipe {
    /// Read and not yet written, from `written` on.
    rest: Vec<u8>,
    written: usize,
    state: State,
    passed: u64,
    /// Where the gate's own frame can go, if these are frames.
    frames: Option<Frames>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The gate ends it: no more is passed on than the frame under way.
    Ending,
    /// The last has been said; what still comes is read only to see when the one side is done.
    Told,
    /// The other side is to see the end; `then` follows.
    Closing {
        then: Closed,
    },
    Closed(Closed),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closed {
    /// The one side has come to its end, too.
    Both,
    /// Until then, what it sends is thrown away: closing a socket with bytes unread would reset the connection,
    /// which overtakes what was sent.
    Receiver,
}

impl Pipe {
    /// Of which `first` was read already.
    pub(super) fn new(first: Vec<u8>, mut frames: Option<Frames>) -> Self {
        if let Some(frames) = &mut frames {
            frames.follow(&first);
        }
        Self { rest: first, written: 0, state: State::Open, passed: 0, frames }
    }

    /// Bytes passed on.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// Ends it: the other side is told that this one goes away, as soon as what is under way is whole. From
    /// then on it is over when the one side has said its last.
    pub(super) fn end(&mut self) {
        if self.state == State::Open {
            self.state = State::Ending;
        }
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
                State::Open => {}
                State::Ending => {
                    if self.say_last() {
                        continue;
                    }
                }
                State::Told => {
                    ready!(to.as_mut().poll_flush(cx))?;
                    if self.frames.as_ref().is_some_and(|from| from.has_closed() && from.is_at_boundary()) {
                        return Poll::Ready(Ok(()));
                    }
                }
                State::Closing { then } => {
                    ready!(to.as_mut().poll_shutdown(cx))?;
                    self.state = State::Closed(then);
                }
                State::Closed(_) => {}
            }
            if self.state == State::Closed(Closed::Both) {
                return Poll::Ready(Ok(()));
            }
            let mut piece = ReadBuf::new(scratch);
            if from.as_mut().poll_read(cx, &mut piece)?.is_pending() {
                ready!(to.as_mut().poll_flush(cx))?;
                return Poll::Pending;
            }
            match piece.filled() {
                [] => self.state = self.state.after_end(),
                piece => self.take(cx, to.as_mut(), piece)?,
            }
        }
    }

    /// What has come goes on, as far as it does.
    fn take(
        &mut self,
        cx: &mut Context<'_>,
        mut to: Pin<&mut impl AsyncWrite>,
        piece: &[u8],
    ) -> io::Result<()> {
        match self.state {
            State::Open => {
                if let Some(frames) = &mut self.frames {
                    frames.follow(piece);
                }
                let written = match to.as_mut().poll_write(cx, piece)? {
                    Poll::Ready(written) => self.wrote(written).map(|()| written)?,
                    Poll::Pending => 0,
                };
                self.rest.extend_from_slice(&piece[written..]);
            }
            State::Ending => {
                let Some(frames) = &mut self.frames else { return Ok(()) };
                let length = frames.follow_to_boundary(piece);
                self.rest.extend_from_slice(&piece[..length]);
                if self.say_last()
                    && let Some(frames) = &mut self.frames
                {
                    frames.follow(&piece[length..]);
                }
            }
            State::Told | State::Closing { .. } | State::Closed(_) => {
                if let Some(frames) = &mut self.frames {
                    frames.follow(piece);
                }
            }
        }
        Ok(())
    }

    /// Adds the gate's own frame to what is to be written, if it can go there; or, where there are no frames,
    /// nothing. False if more has to come first.
    fn say_last(&mut self) -> bool {
        match &self.frames {
            Some(frames) if frames.is_at_boundary() => {
                // A side that has said a Close frame says nothing after it (RFC 6455 section 5.5.1).
                if !frames.has_closed() {
                    self.rest.extend(frames.going_away());
                }
                self.state = State::Told;
            }
            Some(frames) if !frames.is_lost() => return false,
            _ => self.state = State::Closing { then: Closed::Receiver },
        }
        true
    }

    fn wrote(&mut self, bytes: usize) -> io::Result<()> {
        self.passed += bytes as u64;
        if bytes == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(()) }
    }
}

impl State {
    /// When the one side has come to its end.
    fn after_end(self) -> Self {
        match self {
            Self::Open | Self::Ending | Self::Told | Self::Closing { .. } => {
                Self::Closing { then: Closed::Both }
            }
            Self::Closed(_) => Self::Closed(Closed::Both),
        }
    }
}
