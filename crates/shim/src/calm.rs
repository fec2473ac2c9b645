//! Accepting connections without the gate, for as long as there are places for all.

use core::ffi::c_int;
use core::mem::size_of;
use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use handoff::events::MAX_HEAD;
use handoff::memory::{Memory, Process, READY};
use handoff::message::{Address, MAX_ADDRESS, ToGate};
use handoff::tokens::First;
use libc::{sockaddr, socklen_t};

use crate::accepting::tell_address;
use crate::channel;
use crate::connections;
use crate::listener::{Changing, Listener};
use crate::next;

impl Listener {
    /// Accepts itself from now on if the gate says that this may be, and no more if it does not. A server that serves one
    /// connection at a time never does: which of its processes has one is for the gate to say.
    pub(crate) fn follow_calm(&self, memory: &Memory, process: &Process) {
        let is_calm = self.is_calm.load(Ordering::Relaxed);
        if !memory.places.are_calm() {
            if is_calm {
                self.leave_calm(memory);
            }
        } else if !is_calm && process.has_many() && self.left_before.load(Ordering::Relaxed) < 0 {
            let _changing = Changing::begin();
            if !self.is_open() && !self.is_calm.swap(true, Ordering::AcqRel) {
                self.register(self.real());
                process.set_accepts(true);
                self.tell(memory);
            }
        }
    }

    /// Leaves it to the gate.
    fn leave_calm(&self, memory: &Memory) {
        let _changing = Changing::begin();
        if self.is_open() || !self.is_calm.swap(false, Ordering::AcqRel) {
            return;
        }
        let errno = next::errno();
        // SAFETY: both are this library's own.
        unsafe {
            let inner = self.inner.load(Ordering::Acquire);
            next::epoll_ctl(inner, libc::EPOLL_CTL_DEL, self.real(), null_mut());
        }
        next::set_errno(errno);
        if let Some(process) = self.of_process() {
            process.set_accepts(false);
        }
        self.tell(memory);
    }

    /// accept4(2) of the real listener, if there are places for all; nothing where the gate may have sent one instead. What is
    /// more than to begin a request that is there goes to the gate.
    ///
    /// # Safety
    /// As of accept4(2).
    pub(crate) unsafe fn accept_in_calm(
        &self,
        index: usize,
        (address, length): (*mut sockaddr, *mut socklen_t),
        flags: c_int,
    ) -> Option<c_int> {
        /// Of the slots that are ready, so many are left when the gate is told.
        const FEW: usize = READY / 4;
        loop {
            if !self.is_calm.load(Ordering::Acquire) {
                return None;
            }
            let (memory, process) = (self.memory()?, self.of_process()?);
            // What it has sent before comes first.
            if process.queued() > 0 {
                return None;
            }
            if !memory.places.are_open() {
                // Until the gate has seen that there are places for all again.
                memory.places.set_calm(false);
            }
            let ready = memory.places.are_calm().then(|| process.take_ready()).flatten();
            let Some((slot, used)) = ready else {
                self.leave_calm(memory);
                return None;
            };
            if READY - used <= FEW {
                self.tell(memory);
            }
            let mut client = Address { bytes: [0; MAX_ADDRESS], length: 0 };
            let mut known = size_of::<[u8; MAX_ADDRESS]>() as socklen_t;
            // SAFETY: there is room for as much as is said.
            let fd = unsafe { self.accept_real(client.bytes.as_mut_ptr().cast(), &raw mut known, flags) };
            if fd < 0 {
                process.add_ready(slot);
                return (next::errno() != libc::EAGAIN).then_some(fd);
            }
            client.length = known.min(MAX_ADDRESS as socklen_t) as u8;
            let mut head = [0; MAX_HEAD];
            let there = peek(fd, &mut head);
            match memory.tokens.first(&head[..there]) {
                First::Begins { is_told } => {
                    connections::begin_accepted(fd, (index, self), slot, &client, (&head[..there], is_told));
                }
                First::Asks => {
                    process.add_ready(slot);
                    if channel::send(self.control.load(Ordering::Acquire), ToGate::Accepted, fd) {
                        // SAFETY: the server does not know of it.
                        unsafe { next::close(fd) };
                        continue;
                    }
                    // It cannot be asked: the server has it as it is.
                }
            }
            // SAFETY: as the caller says.
            unsafe { tell_address((address, length), &client) };
            return Some(fd);
        }
    }
}

/// Looks at what is there; gives how much.
fn peek(fd: c_int, head: &mut [u8; MAX_HEAD]) -> usize {
    let errno = next::errno();
    let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
    // SAFETY: there is room for as much.
    let length = unsafe { next::recv(fd, head.as_mut_ptr().cast(), head.len(), flags) };
    next::set_errno(errno);
    usize::try_from(length).unwrap_or_default()
}
