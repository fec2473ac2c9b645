//! [`SimulatedStream`]: one end of a connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::chance::Chance;
use super::pipe::{End, Fault, Piece, Pipe, wake};
use super::slot::Slot;

/// Bytes under way and unread in one direction: what Linux gives a new connection.
const MAX_WINDOW: usize = 64 * 1024;

/// One end of a connection.
#[derive(Debug)]
pub struct SimulatedStream {
    pub(super) reads: Arc<Pipe>,
    pub(super) writes: Arc<Pipe>,
    pub(super) alarm: Slot<Option<Pin<Box<Sleep>>>>,
    pub(super) chance: Arc<Chance>,
}

/// What a reader finds.
enum Found {
    Bytes,
    End,
    Reset,
    /// Nothing yet; something arrives at this time, if that is known.
    Later(Option<Instant>),
}

impl SimulatedStream {
    fn find(&self) -> Found {
        let now = Instant::now();
        if self.reads.is_reset(now) {
            return Found::Reset;
        }
        let reset = match self.reads.end.get() {
            Some(End::Reset(at)) => Some(at),
            _ => None,
        };
        let earlier = |at: Instant| reset.map_or(at, |reset| reset.min(at));
        if let Some(piece) = self.reads.pieces.lock().front() {
            return if piece.arrives <= now {
                Found::Bytes
            } else {
                Found::Later(Some(earlier(piece.arrives)))
            };
        }
        match self.reads.end.get() {
            Some(End::Finished(at)) if at <= now => Found::End,
            Some(End::Finished(at) | End::Reset(at)) => Found::Later(Some(at)),
            None => Found::Later(None),
        }
    }

    /// Until a read gives something: bytes, the end or an error.
    ///
    /// # Errors
    /// None; the next read says what is wrong.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let Found::Later(at) = self.find() else { return Poll::Ready(Ok(())) };
            self.reads.reader.replace(Some(cx.waker().clone()));
            let Some(at) = at else { return Poll::Pending };
            let mut alarm = self.alarm.lock();
            let alarm = alarm.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if alarm.deadline() != at {
                alarm.as_mut().reset(at);
            }
            match alarm.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) => {}
            }
        }
    }

    /// Hands over what has arrived, at most `most` bytes, and says how much that was.
    fn take(&self, most: usize, to: impl FnOnce(&[u8])) -> io::Result<usize> {
        match self.find() {
            Found::Reset => Err(io::ErrorKind::ConnectionReset.into()),
            Found::End => Ok(0),
            Found::Later(_) => Err(io::ErrorKind::WouldBlock.into()),
            Found::Bytes => {
                let mut pieces = self.reads.pieces.lock();
                let Some(piece) = pieces.front_mut() else { return Ok(0) };
                let rest = &piece.bytes[piece.taken..];
                let length = rest.len().min(most);
                to(&rest[..length]);
                piece.taken += length;
                if piece.taken == piece.bytes.len() {
                    pieces.pop_front();
                }
                self.reads.under_way.set(self.reads.under_way.get() - length);
                wake(&self.reads.writer);
                Ok(length)
            }
        }
    }

    fn write(&self, cx: &Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let now = Instant::now();
        let pipe = &self.writes;
        if self.reads.is_reset(now) || pipe.is_reset(now) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if pipe.end.get().is_some() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = MAX_WINDOW.saturating_sub(pipe.under_way.get());
        if room == 0 && !pipe.silent.get() {
            pipe.writer.replace(Some(cx.waker().clone()));
            return Poll::Pending;
        }
        let mut length = bytes.len().min(room.max(1));
        if pipe.small {
            length = 1 + self.chance.below(length.clamp(1, 900));
        }
        if length == 0 {
            return Poll::Ready(Ok(0));
        }
        if pipe.unread.get() {
            // The peer has closed its socket and answers with a reset.
            self.reads.finish(End::Reset(now + self.chance.draw_delay()));
        }
        let arrives = (now + self.chance.draw_delay()).max(pipe.last.get());
        pipe.last.set(arrives);
        self.meet_fault(length, arrives);
        if !pipe.silent.get() {
            pipe.pieces.lock().push_back(Piece { arrives, bytes: bytes[..length].to_vec(), taken: 0 });
            pipe.under_way.set(pipe.under_way.get() + length);
            wake(&pipe.reader);
        }
        Poll::Ready(Ok(length))
    }

    /// After so many bytes the connection meets what was drawn for it.
    fn meet_fault(&self, length: usize, arrives: Instant) {
        let Some((left, fault)) = self.writes.fault.get() else { return };
        if left > length {
            self.writes.fault.set(Some((left - length, fault)));
            return;
        }
        self.writes.fault.set(None);
        match fault {
            Fault::Reset => {
                self.chance.count(|made| made.resets += 1);
                self.writes.finish(End::Reset(arrives));
                self.reads.finish(End::Reset(arrives));
            }
            Fault::Silence => {
                self.chance.count(|made| made.silences += 1);
                self.writes.silent.set(true);
                self.reads.silent.set(true);
            }
        }
    }

    fn shut_down(&self) {
        let arrives = (Instant::now() + self.chance.draw_delay()).max(self.writes.last.get());
        self.writes.finish(End::Finished(arrives));
    }
}

impl Drop for SimulatedStream {
    fn drop(&mut self) {
        self.reads.unread.set(true);
        if self.reads.under_way.get() > 0 {
            let arrives = Instant::now() + self.chance.draw_delay();
            self.writes.finish(End::Reset(arrives));
        } else {
            self.shut_down();
        }
    }
}

impl AsyncRead for SimulatedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            match self.take(buffer.remaining(), |bytes| buffer.put_slice(bytes)) {
                Ok(_) => return Poll::Ready(Ok(())),
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                    let Poll::Ready(ready) = self.poll_read_ready(cx) else { return Poll::Pending };
                    ready?;
                }
                Err(why) => return Poll::Ready(Err(why)),
            }
        }
    }
}

impl AsyncWrite for SimulatedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shut_down();
        Poll::Ready(Ok(()))
    }
}
