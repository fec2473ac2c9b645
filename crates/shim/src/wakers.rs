//! [`Waker`]: by what the gate wakes one thread of several. A few are for all threads of a process, of which a few are woken at a time.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use handoff::message::{ToGate, WAKERS};

use crate::channel;
use crate::listener::{Listener, high};
use crate::next;

/// One that a thread has to itself until it is dropped.
pub(crate) struct Waker(usize);

/// This end of each, of which the gate has the other; -1 before the first use.
static ENDS: [AtomicI32; WAKERS] = [const { AtomicI32::new(-1) }; WAKERS];
/// Which listener's gate has the other end, and one more; 0 before.
static SENT: [AtomicU32; WAKERS] = [const { AtomicU32::new(0) }; WAKERS];
/// A bit for each that a thread has.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// Why a thread was woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The gate wants it to give its connection back.
    Asked,
    /// For nothing that is there still.
    Nothing,
    /// The gate has gone.
    Over,
}

impl Waker {
    /// One that the gate of this listener has; nothing where none is left, or none is to be had.
    pub(crate) fn of(listener: &Listener) -> Option<Self> {
        /// There are no more listeners than this many bits have room for.
        const BITS: u32 = 6;
        let take = |number: &usize| TAKEN.fetch_or(1 << number, Ordering::AcqRel) & (1 << number) == 0;
        let waker = Self((0..WAKERS).find(take)?);
        let generation = listener.generation.load(Ordering::Acquire);
        let which = ((generation << BITS) | listener.index() as u32).wrapping_add(1);
        (SENT[waker.0].load(Ordering::Acquire) == which || waker.send(listener, which)).then_some(waker)
    }

    /// Makes it anew, and sends the gate its end.
    fn send(&self, listener: &Listener, which: u32) -> bool {
        let errno = next::errno();
        let mut ends = [-1; 2];
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: there is room for two; all descriptors are this library's own.
        let is_sent = unsafe {
            libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) == 0 && {
                let own = high(ends[0]);
                let message = ToGate::Waker { number: self.0 as u16 };
                let is_sent =
                    own >= 0 && channel::send(listener.control.load(Ordering::Acquire), message, ends[1]);
                for end in ends {
                    next::close(end);
                }
                let before = ENDS[self.0].swap(own, Ordering::AcqRel);
                if before >= 0 {
                    next::close(before);
                }
                is_sent
            }
        };
        SENT[self.0].store(if is_sent { which } else { 0 }, Ordering::Release);
        next::set_errno(errno);
        is_sent
    }

    pub(crate) fn fd(&self) -> c_int {
        ENDS[self.0].load(Ordering::Acquire)
    }

    /// By which the gate knows it.
    pub(crate) fn number(&self) -> usize {
        self.0
    }

    /// What it has said, which it says no more.
    pub(crate) fn woken(&self) -> Woken {
        match next::receive_now(self.fd(), &mut [0; 64], 0) {
            None => Woken::Nothing,
            Some(1..) => Woken::Asked,
            Some(0) => {
                SENT[self.0].store(0, Ordering::Release);
                Woken::Over
            }
        }
    }
}

impl Drop for Waker {
    fn drop(&mut self) {
        TAKEN.fetch_and(!(1 << self.0), Ordering::AcqRel);
    }
}

/// A child has none of the threads.
pub(crate) fn forget() {
    for (end, sent) in ENDS.iter().zip(&SENT) {
        let fd = end.swap(-1, Ordering::AcqRel);
        if fd >= 0 {
            // SAFETY: it is this library's own.
            unsafe { next::close(fd) };
        }
        sent.store(0, Ordering::Release);
    }
    TAKEN.store(0, Ordering::Release);
}
