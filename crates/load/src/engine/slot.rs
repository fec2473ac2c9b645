//! [`Slot`]: what the reactor knows of one socket.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::task::Waker;

use bytes::Bytes;
use rustix::io::Errno;

/// How much a connection is to carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Responses {
    /// One response is all that will be received.
    One,
    Many,
}

#[derive(Debug)]
pub(super) struct Slot {
    /// `None` once it was given to the kernel to be closed.
    pub(super) fd: Option<OwnedFd>,
    pub(super) responses: Responses,
    /// Operations that the ring has of it; until they are back its memory must stay.
    pub(super) in_flight: u8,
    /// A receive is in the ring.
    pub(super) receiving: bool,
    /// It goes on until it is cancelled.
    pub(super) is_multishot: bool,
    /// What comes next is the beginning of a response.
    pub(super) begins: bool,
    /// The kernel can discard what comes: it is of TCP.
    pub(super) can_discard: bool,
    /// Of the response that is being received some was discarded, and of the one before.
    pub(super) discards: bool,
    pub(super) discarded_before: bool,
    /// Bytes that were discarded and not yet told of.
    pub(super) discarded: u64,
    /// More was there when the last receive ended.
    pub(super) is_nonempty: bool,
    /// A send is in the ring, of the first of `outgoing`.
    pub(super) sending: bool,
    /// No task holds the socket any longer.
    pub(super) released: bool,
    /// Something may be read; epoll tells edges only.
    pub(super) readable: bool,
    /// The peer sends no more; what it sent is still to be read.
    pub(super) hung_up: bool,
    /// Whether what arrives is wanted. What a server sends unasked is thrown away.
    pub(super) expecting: bool,
    /// Something came that was not asked for.
    pub(super) unasked: bool,
    /// Filled buffers of the ring.
    pub(super) inbox: VecDeque<Filled>,
    /// What follows when the inbox is empty.
    pub(super) end: Option<End>,
    pub(super) outgoing: VecDeque<Bytes>,
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
    /// Whether it has become writable, which ends a handshake.
    pub(super) writable: bool,
}

/// Fewer bytes are copied sooner than the kernel can be asked not to.
pub(super) const MIN_DISCARD: u64 = 16 * 1024;

/// What a reader wants of a socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Want {
    /// At most so many bytes.
    pub(crate) most: usize,
    /// So many of the next bytes are only counted. If they are many, and come over TCP, the kernel does not copy them.
    pub(crate) discard: u64,
}

/// What has arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arrived<'a> {
    Bytes(&'a [u8]),
    /// So many bytes, which the kernel has discarded (`MSG_TRUNC`, tcp(7)).
    Discarded(u64),
}

/// Bytes in a buffer of the ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filled {
    pub(super) buffer: u16,
    pub(super) start: u32,
    pub(super) length: u32,
}

/// How a stream of bytes ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Closed,
    Failed(Errno),
}

impl End {
    pub(super) fn result<R>(self) -> io::Result<Option<R>> {
        match self {
            Self::Closed => Ok(None),
            Self::Failed(error) => Err(error.into()),
        }
    }
}

impl Slot {
    pub(super) fn new(fd: OwnedFd, responses: Responses) -> Self {
        Self {
            fd: Some(fd),
            responses,
            in_flight: 0,
            receiving: false,
            is_multishot: false,
            begins: true,
            can_discard: false,
            discards: false,
            discarded_before: false,
            discarded: 0,
            is_nonempty: false,
            sending: false,
            released: false,
            readable: false,
            hung_up: false,
            expecting: false,
            unasked: false,
            inbox: VecDeque::new(),
            end: None,
            outgoing: VecDeque::new(),
            reader: None,
            writer: None,
            writable: false,
        }
    }

    /// Forgets `sent` bytes of the first piece.
    pub(super) fn advance(&mut self, sent: usize) {
        if let Some(piece) = self.outgoing.front_mut() {
            if sent >= piece.len() {
                self.outgoing.pop_front();
            } else {
                let _ = piece.split_to(sent);
            }
        }
    }

    pub(super) fn wake_reader(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }

    pub(super) fn wake_writer(&mut self) {
        self.writable = true;
        if let Some(waker) = self.writer.take() {
            waker.wake();
        }
    }
}
