//! [`Socket`]: one connection of the reactor's, as a task sees it.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv, sockopt};
use units::Time;

use crate::engine::reactor::{Kernel, Reactor};
use crate::engine::slot::{Arrived, Responses, Slot, Want};

/// A stream socket. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct Socket {
    reactor: Rc<Reactor>,
    key: usize,
}

impl Socket {
    /// Takes over a socket that does not block and will carry `responses`.
    ///
    /// # Errors
    /// When the kernel cannot watch it.
    pub(crate) fn new(reactor: Rc<Reactor>, fd: OwnedFd, responses: Responses) -> io::Result<Self> {
        let key = reactor.insert(Slot::new(fd, responses))?;
        Ok(Self { reactor, key })
    }

    /// It is of TCP: the kernel need not copy what is not looked at.
    pub(crate) fn allow_discard(&self) {
        self.reactor.with(self.key, |slot, _| slot.can_discard = true);
    }

    /// Waits for the handshake to end.
    ///
    /// # Errors
    /// Why it failed.
    pub(crate) async fn established(&self) -> io::Result<()> {
        let mut asked = false;
        poll_fn(|context| {
            let polled = self.reactor.with(self.key, |slot, kernel| {
                if slot.writable {
                    return Poll::Ready(());
                }
                store(&mut slot.writer, context.waker());
                if !std::mem::replace(&mut asked, true)
                    && let Kernel::Ring(ring) = kernel
                {
                    ring.await_writable(self.key, slot);
                }
                Poll::Pending
            });
            polled.unwrap_or(Poll::Ready(()))
        })
        .await;
        self.with_fd(|fd| sockopt::socket_error(fd)).unwrap_or(Ok(Err(Errno::BADF)))?.map_err(Into::into)
    }

    /// What arrives from now on is an answer to something.
    pub(crate) fn expect_response(&self) {
        self.reactor.with(self.key, |slot, _| (slot.expecting, slot.begins) = (true, !slot.receiving));
    }

    /// What arrives from now on was not asked for.
    pub(crate) fn expect_nothing(&self) {
        self.reactor.with(self.key, |slot, kernel| {
            end_response(slot, kernel);
            slot.expecting = false;
            // It notices what comes unasked, and is there when the next response comes.
            if let Kernel::Ring(ring) = kernel
                && slot.discarded_before
            {
                ring.listen(self.key, slot);
            }
        });
    }

    /// A response has been received; another may begin.
    pub(crate) fn end_response(&self) {
        self.reactor.with(self.key, end_response);
    }

    /// Queues `piece` to be written; the kernel reads it from where it is. Errors are found by
    /// the task that reads.
    pub(crate) fn send(&self, piece: Bytes) {
        self.reactor.send(self.key, piece);
    }

    /// Has the task woken when the reactor has looked at all else.
    pub(crate) fn wake_next_turn(&self, context: &Context<'_>) {
        self.reactor.timers.wake_at(self.reactor.now(), context);
    }

    /// How many pieces are still to be written.
    pub(crate) fn unsent(&self) -> usize {
        self.reactor.with(self.key, |slot, _| slot.outgoing.len()).unwrap_or(0)
    }

    /// Has `take` look at up to `most` bytes that arrived, with the time at which they were
    /// fetched; `None` when the peer has closed.
    pub(crate) fn poll_receive<R>(
        &self,
        context: &mut Context<'_>,
        most: usize,
        take: impl FnOnce(Time, &[u8]) -> R,
    ) -> Poll<io::Result<Option<R>>> {
        self.poll_arrival(context, Want { most, discard: 0 }, |now, arrived| match arrived {
            Arrived::Bytes(bytes) => take(now, bytes),
            Arrived::Discarded(_) => take(now, &[]),
        })
    }

    /// The same where some need not be looked at.
    pub(crate) fn poll_arrival<R>(
        &self,
        context: &mut Context<'_>,
        want: Want,
        take: impl FnOnce(Time, Arrived<'_>) -> R,
    ) -> Poll<io::Result<Option<R>>> {
        let polled = self.reactor.receive(self.key, want, take);
        if polled.is_pending() {
            self.reactor.with(self.key, |slot, _| store(&mut slot.reader, context.waker()));
        }
        polled
    }

    /// Waits until everything queued was given to the kernel.
    pub(crate) fn poll_sent(&self, context: &mut Context<'_>) -> Poll<()> {
        let polled = self.reactor.with(self.key, |slot, _| {
            if slot.outgoing.is_empty() || slot.end.is_some() {
                return Poll::Ready(());
            }
            store(&mut slot.writer, context.waker());
            Poll::Pending
        });
        polled.unwrap_or(Poll::Ready(()))
    }

    /// Whether an idle connection can no longer be used: it was closed, or the server sent
    /// something unasked.
    pub(crate) fn is_stale(&self) -> bool {
        let told = self.reactor.with(self.key, |slot, kernel| match kernel {
            Kernel::Ring(_) if slot.receiving => Some(slot.end.is_some() || slot.unasked),
            _ if slot.end.is_some() || slot.unasked || slot.hung_up => Some(true),
            _ => None,
        });
        match told {
            Some(Some(stale)) => stale,
            Some(None) => {
                let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
                let peeked = self.with_fd(|fd| recv(fd, &mut [0_u8; 1][..], flags).map(|_| ()));
                peeked != Some(Err(Errno::AGAIN))
            }
            None => true,
        }
    }

    /// Looks at bytes that have arrived and were not taken, and says how many there are of them.
    pub(crate) fn peek(&self, bytes: &mut [u8]) -> usize {
        let fetched = self.reactor.with(self.key, |slot, kernel| match kernel {
            Kernel::Ring(ring) => ring.peek(slot, bytes).or((!slot.is_nonempty).then_some(0)),
            Kernel::Epoll(_) => (!slot.readable).then_some(0),
        });
        if let Some(length) = fetched.unwrap_or(Some(0)) {
            return length;
        }
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let peeked = self.with_fd(|fd| recv(fd, bytes, flags).map(|(_, length)| length));
        peeked.and_then(Result::ok).unwrap_or(0)
    }

    /// Has `ask` look at the descriptor.
    pub(crate) fn with_fd<R>(&self, ask: impl FnOnce(&OwnedFd) -> R) -> Option<R> {
        self.reactor.with(self.key, |slot, _| slot.fd.as_ref().map(ask)).flatten()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.reactor.release(self.key);
    }
}

/// The next bytes are those of another response.
fn end_response(slot: &mut Slot, kernel: &mut Kernel) {
    slot.begins = true;
    slot.discarded_before = std::mem::take(&mut slot.discards);
    if let Kernel::Ring(ring) = kernel {
        ring.discarded_before = slot.discarded_before;
    }
}

fn store(place: &mut Option<Waker>, waker: &Waker) {
    if !place.as_ref().is_some_and(|stored| stored.will_wake(waker)) {
        *place = Some(waker.clone());
    }
}
