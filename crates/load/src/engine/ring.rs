//! [`Ring`]: io_uring.
//!
//! One thread submits and fetches (`IORING_SETUP_SINGLE_ISSUER`), and the kernel does the work
//! of completions when they are fetched, not in between (`IORING_SETUP_DEFER_TASKRUN`, Linux
//! 6.1). A socket that carries many responses receives into shared buffers without being asked
//! again (multishot), as long as nothing of them is discarded.
#![allow(unsafe_code, reason = "operations name memory by pointer")]

use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::task::Poll;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use slab::Slab;
use units::Span;

use crate::engine::buffers::{Buffers, GROUP};
use crate::engine::slot::{Arrived, End, Filled, MIN_DISCARD, Responses, Slot, Want};
use crate::engine::wait::Wait;

const SUBMISSIONS: u32 = 1024;
const COMPLETIONS: u32 = 16 * 1024;

/// Requests are handed over after so many, even within a turn: each takes the kernel some
/// microseconds, and the last of a long batch would leave long after its stamp. Where responses
/// are fetched in batches that are larger, so are those of requests.
const SENDS_PER_SUBMISSION: u32 = 16;

/// Requests of this size find room in a socket that has been answered.
const SMALL: usize = 4096;

/// What is received of a response by itself where the one before was discarded but for that: more than most heads are long.
const HEAD_BYTES: u32 = 2048;

/// Bytes that are discarded with one operation.
const MAX_DISCARD: u32 = 1 << 20;

/// What an operation was, in the low bits of its user data; the key of the slot is above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Receive = 0,
    Send = 1,
    Writable = 2,
    /// Cancel and close, whose outcome is of no interest.
    Parting = 3,
}

const OPERATION_BITS: u32 = 2;

impl Operation {
    fn tag(self, key: usize) -> u64 {
        (key as u64) << OPERATION_BITS | self as u64
    }

    fn of(tag: u64) -> (Self, usize) {
        let operation = match tag & ((1 << OPERATION_BITS) - 1) {
            0 => Self::Receive,
            1 => Self::Send,
            2 => Self::Writable,
            _ => Self::Parting,
        };
        (operation, usize::try_from(tag >> OPERATION_BITS).unwrap_or(usize::MAX))
    }
}

pub(super) struct Ring {
    // Closed first: the kernel knows the buffers' memory.
    ring: IoUring,
    buffers: Buffers,
    /// Whether it can wait for several completions, but not long (Linux 6.12).
    lingers: bool,
    /// Requests to hand over at once.
    batch: u32,
    /// Sends since the last turn. They complete at once and are not what a turn waits for.
    sends: u32,
    /// Among them is one that the socket may have no room for.
    some_sends_may_wait: bool,
    completed: Vec<(u64, i32, u32)>,
    /// Whether of the last response, on whichever socket, some was discarded.
    pub(super) discarded_before: bool,
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").finish_non_exhaustive()
    }
}

impl Ring {
    /// # Errors
    /// When the kernel has no io_uring, an old one, or does not allow it.
    pub(super) fn new() -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize(COMPLETIONS)
            .build(SUBMISSIONS)?;
        let mut buffers = Buffers::new()?;
        buffers.register(&ring.submitter())?;
        let lingers = ring.params().is_feature_min_timeout();
        Ok(Self {
            ring,
            buffers,
            lingers,
            batch: SENDS_PER_SUBMISSION,
            sends: 0,
            some_sends_may_wait: false,
            completed: Vec::new(),
            discarded_before: false,
        })
    }

    /// Submits, waits, and deals with what was completed.
    pub(super) fn turn(&mut self, slots: &mut Slab<Slot>, wait: Wait) -> io::Result<()> {
        self.buffers.publish();
        self.batch = wait.batching.want.max(SENDS_PER_SUBMISSION);
        match self.submit_and_wait(wait) {
            Ok(_) => {}
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN) => {}
                _ => return Err(error),
            },
        }
        self.fetch();
        // Completing one may fetch more.
        let mut next = 0;
        while let Some(&(tag, result, flags)) = self.completed.get(next) {
            self.complete(slots, tag, result, flags);
            next += 1;
        }
        self.completed.clear();
        Ok(())
    }

    /// Whether a turn would submit or fetch something.
    pub(super) fn has_news(&mut self) -> bool {
        let submissions = self.ring.submission();
        submissions.taskrun() || !submissions.is_empty()
    }

    fn fetch(&mut self) {
        let completions = self.ring.completion();
        self.completed.extend(completions.map(|entry| (entry.user_data(), entry.result(), entry.flags())));
    }

    fn submit_and_wait(&mut self, wait: Wait) -> io::Result<usize> {
        let sends = if self.some_sends_may_wait { 0 } else { self.sends as usize };
        (self.sends, self.some_sends_may_wait) = (0, false);
        let submitter = self.ring.submitter();
        if wait.longest.is_zero() {
            return submitter.submit();
        }
        let timeout = timespec(wait.longest);
        let linger = wait.batching.linger.min(wait.longest);
        if linger.is_zero() || !self.lingers {
            let args = SubmitArgs::new().timespec(&timeout);
            return submitter.submit_with_args(1 + sends, &args);
        }
        let micros = u32::try_from(linger.as_nanos() / 1000).unwrap_or(u32::MAX);
        let args = SubmitArgs::new().timespec(&timeout).min_wait_usec(micros);
        submitter.submit_with_args(wait.batching.want as usize + sends, &args)
    }

    fn complete(&mut self, slots: &mut Slab<Slot>, tag: u64, result: i32, flags: u32) {
        let (operation, key) = Operation::of(tag);
        if operation == Operation::Parting {
            return;
        }
        let Some(slot) = slots.get_mut(key) else { return };
        let goes_on = cqueue::more(flags);
        slot.in_flight -= u8::from(!goes_on);
        match operation {
            Operation::Receive => {
                slot.receiving = goes_on;
                slot.is_multishot = goes_on;
                slot.is_nonempty = cqueue::sock_nonempty(flags);
                self.received(slot, result, flags);
            }
            Operation::Send => {
                slot.sending = false;
                match usize::try_from(result) {
                    Ok(sent) => slot.advance(sent),
                    // Left for the reader to find, which may still read an answer that came before.
                    Err(_) => slot.outgoing.clear(),
                }
                if !slot.released && !slot.outgoing.is_empty() {
                    self.transmit(key, slot);
                } else if slot.outgoing.is_empty() {
                    slot.wake_writer();
                }
            }
            _ => slot.wake_writer(),
        }
        if slot.released {
            self.part(key, slots);
        }
    }

    fn received(&mut self, slot: &mut Slot, result: i32, flags: u32) {
        match (u32::try_from(result), cqueue::buffer_select(flags)) {
            (Ok(length), Some(buffer)) if length > 0 => {
                if slot.expecting && !slot.released {
                    slot.inbox.push_back(Filled { buffer, start: 0, length });
                } else {
                    slot.unasked = true;
                    self.buffers.give_back(buffer);
                }
            }
            (Ok(length), None) if length > 0 => slot.discarded += u64::from(length),
            (Ok(_), buffer) => {
                buffer.into_iter().for_each(|buffer| self.buffers.give_back(buffer));
                slot.end = Some(End::Closed);
            }
            (Err(_), _) => match Errno::from_raw_os_error(-result) {
                // All buffers were full. The receiver asks again.
                Errno::NOBUFS => self.buffers.grow(),
                Errno::CANCELED => {}
                // Not every socket that is called one of TCP is read by TCP: a sockmap of BPF copies nevertheless.
                Errno::FAULT if slot.can_discard => slot.can_discard = false,
                error => slot.end = Some(End::Failed(error)),
            },
        }
        slot.wake_reader();
    }

    pub(super) fn receive<R>(
        &mut self,
        key: usize,
        slot: &mut Slot,
        want: Want,
        take: impl FnOnce(Arrived<'_>) -> R,
    ) -> Poll<io::Result<Option<R>>> {
        if let Some(filled) = slot.inbox.front_mut() {
            let length = filled.length.min(u32::try_from(want.most).unwrap_or(u32::MAX));
            let taken = take(Arrived::Bytes(self.buffers.filled(filled.buffer, filled.start, length)));
            filled.start += length;
            filled.length -= length;
            if filled.length == 0 {
                self.buffers.give_back(filled.buffer);
                slot.inbox.pop_front();
            }
            return Poll::Ready(Ok(Some(taken)));
        }
        if slot.discarded > 0 {
            return Poll::Ready(Ok(Some(take(Arrived::Discarded(std::mem::take(&mut slot.discarded))))));
        }
        if let Some(end) = slot.end {
            return Poll::Ready(end.result());
        }
        if slot.can_discard && want.discard >= MIN_DISCARD {
            self.discard(key, slot, want.discard);
        } else {
            self.listen(key, slot);
        }
        Poll::Pending
    }

    /// The first of what was fetched and not taken.
    pub(super) fn peek(&self, slot: &Slot, bytes: &mut [u8]) -> Option<usize> {
        let &Filled { buffer, start, length } = slot.inbox.front()?;
        let filled = self.buffers.filled(buffer, start, length);
        Some(std::iter::zip(bytes, filled).map(|(byte, filled)| *byte = *filled).count())
    }

    /// Sees that the next `most` bytes are discarded. A receive that goes on until it is cancelled would copy them, so it is.
    fn discard(&mut self, key: usize, slot: &mut Slot, most: u64) {
        slot.discards = true;
        if std::mem::take(&mut slot.is_multishot) {
            return self.cancel(key, Operation::Receive);
        }
        let Some(fd) = raw(slot).filter(|_| !slot.receiving) else { return };
        let length = u32::try_from(most).unwrap_or(u32::MAX).min(MAX_DISCARD);
        let entry = opcode::Recv::new(fd, std::ptr::null_mut(), length)
            .flags(RecvFlags::TRUNC.bits().cast_signed())
            .build();
        self.begin_receive(key, slot, entry);
    }

    /// Sees that a receive is under way.
    pub(super) fn listen(&mut self, key: usize, slot: &mut Slot) {
        let Some(fd) = raw(slot).filter(|_| !slot.receiving) else { return };
        let is_once = slot.responses == Responses::One;
        let discards = slot.discards || slot.discarded_before || (is_once && self.discarded_before);
        slot.is_multishot = !is_once && !discards;
        let entry = if slot.is_multishot {
            opcode::RecvMulti::new(fd, GROUP).build()
        } else {
            let length = if std::mem::take(&mut slot.begins) && discards { HEAD_BYTES } else { 0 };
            opcode::Recv::new(fd, std::ptr::null_mut(), length)
                .buf_group(GROUP)
                .build()
                .flags(squeue::Flags::BUFFER_SELECT)
        };
        self.begin_receive(key, slot, entry);
    }

    fn begin_receive(&mut self, key: usize, slot: &mut Slot, entry: squeue::Entry) {
        slot.receiving = true;
        slot.in_flight += 1;
        self.push(&entry.user_data(Operation::Receive.tag(key)));
    }

    fn cancel(&mut self, key: usize, operation: Operation) {
        let entry = opcode::AsyncCancel::new(operation.tag(key)).build();
        self.push(&entry.user_data(Operation::Parting.tag(key)));
    }

    /// Sees that the first piece is under way; gives whether a batch of requests was handed over.
    pub(super) fn transmit(&mut self, key: usize, slot: &mut Slot) -> bool {
        // A piece behind one that is under way leaves only after that, in a turn of its own.
        self.some_sends_may_wait |= slot.sending;
        let (Some(fd), Some(piece)) = (raw(slot).filter(|_| !slot.sending), slot.outgoing.front()) else {
            return false;
        };
        let length = u32::try_from(piece.len()).unwrap_or(u32::MAX);
        let alone = slot.outgoing.len() == 1;
        self.some_sends_may_wait |= !alone || piece.len() > SMALL;
        let mut flags = SendFlags::NOSIGNAL.bits() | RecvFlags::WAITALL.bits();
        if !alone {
            flags |= SendFlags::MORE.bits();
        }
        let entry = opcode::Send::new(fd, piece.as_ptr(), length).flags(flags.cast_signed()).build();
        slot.sending = true;
        slot.in_flight += 1;
        self.push(&entry.user_data(Operation::Send.tag(key)));
        self.sends += 1;
        let full = self.sends.is_multiple_of(self.batch);
        if full {
            // What fails now fails again, and is told, at the end of the turn.
            let _ = self.ring.submit();
        }
        full
    }

    /// Wakes the slot's writer when the socket can be written to.
    pub(super) fn await_writable(&mut self, key: usize, slot: &mut Slot) {
        let Some(fd) = raw(slot) else { return };
        let entry = opcode::PollAdd::new(fd, u32::from(PollFlags::OUT.bits())).build();
        slot.in_flight += 1;
        self.push(&entry.user_data(Operation::Writable.tag(key)));
    }

    /// Closes a socket that no task holds any longer.
    pub(super) fn release(&mut self, key: usize, slots: &mut Slab<Slot>) {
        let Some(slot) = slots.get_mut(key) else { return };
        slot.released = true;
        if slot.responses == Responses::One {
            self.discarded_before = slot.discards;
        }
        (slot.reader, slot.writer) = (None, None);
        while let Some(filled) = slot.inbox.pop_front() {
            self.buffers.give_back(filled.buffer);
        }
        let polling = slot.in_flight > u8::from(slot.receiving) + u8::from(slot.sending);
        for (operation, under_way) in [
            (Operation::Receive, slot.receiving),
            (Operation::Send, slot.sending),
            (Operation::Writable, polling),
        ] {
            if under_way {
                self.cancel(key, operation);
            }
        }
        self.part(key, slots);
    }

    /// Frees the slot once the kernel has let go of it.
    fn part(&mut self, key: usize, slots: &mut Slab<Slot>) {
        let Some(slot) = slots.get_mut(key).filter(|slot| slot.in_flight == 0) else { return };
        if let Some(fd) = slot.fd.take() {
            let entry = opcode::Close::new(Fd(fd.into_raw_fd())).build();
            self.push(&entry.user_data(Operation::Parting.tag(key)));
        }
        slots.remove(key);
    }

    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: what operations point to lives until they complete: pieces to send stay in the
        // slot, a slot stays while anything of it is in flight, and descriptors stay open as long.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            if self.ring.submit().is_err() {
                // Completions must be fetched first; the kernel keeps what it has no room for.
                self.fetch();
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Descriptors that were to be closed by the ring are closed by its last submission.
        let _ = self.ring.submit();
    }
}

fn raw(slot: &Slot) -> Option<Fd> {
    slot.fd.as_ref().map(|fd| Fd(fd.as_raw_fd()))
}

fn timespec(span: Span) -> Timespec {
    let nanos = span.as_nanos();
    Timespec::new().sec(nanos / 1_000_000_000).nsec((nanos % 1_000_000_000) as u32)
}
