//! [`Epoll`]: the way to the kernel that every kernel offers.
//!
//! Each socket is registered once, for edges in both directions, so that a request costs one
//! write and one read.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::task::Poll;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use slab::Slab;
use units::Span;

use crate::engine::slot::{Arrived, End, MIN_DISCARD, Slot, Want};

const MAX_EVENTS: usize = 256;

/// What is looked at arrives here in blocks of this size.
const RECEIVE_BUFFER: usize = 64 * 1024;

pub(super) struct Epoll {
    fd: OwnedFd,
    events: Vec<epoll::Event>,
    /// One for all sockets: between two reads nothing stays in it.
    received: Box<[u8]>,
}

impl fmt::Debug for Epoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Epoll").finish_non_exhaustive()
    }
}

impl Epoll {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            fd: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(MAX_EVENTS),
            received: vec![0; RECEIVE_BUFFER].into_boxed_slice(),
        })
    }

    pub(super) fn register(&self, key: usize, slot: &Slot) -> io::Result<()> {
        let Some(fd) = &slot.fd else { return Ok(()) };
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.fd, fd, EventData::new_u64(key as u64), flags)?)
    }

    /// Whether a turn would find something.
    pub(super) fn has_news(&self) -> bool {
        let mut events = [PollFd::new(&self.fd, PollFlags::IN)];
        poll(&mut events, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Waits for events, at most so long, and deals with them.
    pub(super) fn turn(&mut self, slots: &mut Slab<Slot>, longest: Span) -> io::Result<()> {
        let nanos = longest.as_nanos();
        let timeout = Timespec {
            tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(nanos % 1_000_000_000).unwrap_or(0),
        };
        self.events.clear();
        match epoll::wait(&self.fd, rustix::buffer::spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let key = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
            let Some(slot) = slots.get_mut(key) else { continue };
            let flags = event.flags;
            if flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR) {
                slot.hung_up = true;
            }
            if slot.hung_up || flags.contains(EventFlags::IN) {
                slot.readable = true;
                slot.unasked |= !slot.expecting;
                slot.wake_reader();
            }
            if flags.intersects(EventFlags::OUT | EventFlags::ERR | EventFlags::HUP) {
                transmit(slot);
                slot.wake_writer();
            }
        }
        Ok(())
    }

    pub(super) fn receive<R>(
        &mut self,
        slot: &mut Slot,
        want: Want,
        take: impl FnOnce(Arrived<'_>) -> R,
    ) -> Poll<io::Result<Option<R>>> {
        let Some(fd) = slot.fd.as_ref().filter(|_| slot.readable) else { return Poll::Pending };
        let (flags, most) = match want.discard {
            MIN_DISCARD.. if slot.can_discard => {
                (RecvFlags::TRUNC, usize::try_from(want.discard).unwrap_or(usize::MAX))
            }
            _ => (RecvFlags::empty(), want.most),
        };
        let most = most.min(self.received.len());
        let buffer = self.received.get_mut(..most).unwrap_or_default();
        loop {
            return match recv(fd, &mut *buffer, flags) {
                Ok((_, 0)) => Poll::Ready(End::Closed.result()),
                Ok((_, length)) => {
                    // Less than there was room for: the socket is empty, unless its end follows.
                    slot.readable = length == most || slot.hung_up;
                    let arrived = if flags.is_empty() {
                        Arrived::Bytes(buffer.get(..length).unwrap_or_default())
                    } else {
                        Arrived::Discarded(length as u64)
                    };
                    Poll::Ready(Ok(Some(take(arrived))))
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {
                    slot.readable = false;
                    Poll::Pending
                }
                Err(error) => Poll::Ready(Err(error.into())),
            };
        }
    }
}

/// Writes what the socket takes. An error is left for the reader to find, which may still read
/// an answer that came before it.
pub(super) fn transmit(slot: &mut Slot) {
    while let (Some(fd), Some(piece)) = (&slot.fd, slot.outgoing.front()) {
        let more = if slot.outgoing.len() > 1 { SendFlags::MORE } else { SendFlags::empty() };
        match send(fd, piece, SendFlags::NOSIGNAL | more) {
            Ok(sent) => slot.advance(sent),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return,
            Err(_) => slot.outgoing.clear(),
        }
    }
}
