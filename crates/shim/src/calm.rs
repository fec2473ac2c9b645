//! Accepting connections without the gate, for as long as there are places for all.

use core::ffi::c_int;
use core::mem::size_of;
use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use handoff::events::MAX_HEAD;
use handoff::memory::{Memory, Process};
use handoff::message::{Address, MAX_ADDRESS, ToGate};
use handoff::tokens::First;
use libc::{epoll_event, sockaddr, socklen_t};

use crate::accepting::tell_address;
use crate::channel;
use crate::connections;
use crate::connections::Prepared;
use crate::listener::{Changing, Listener, NOWHERE, SEVERAL};
use crate::next;
use crate::reading;
use crate::table;

impl Listener {
    /// Accepts itself from now on if the gate says that this may be, and no more if it does not. A server that serves one
    /// connection at a time never does: which of its processes has one is for the gate to say.
    pub(crate) fn follow_calm(&self, memory: &Memory, process: &Process) {
        let is_calm = self.is_calm.load(Ordering::Relaxed);
        if !memory.places.are_calm() {
            if is_calm {
                self.leave_calm(memory);
            }
        } else if !is_calm
            && process.has_many()
            && process.has_ready()
            && self.left_before.load(Ordering::Relaxed) < 0
        {
            let errno = next::errno();
            // Another thread, or what this one does just now, changes it; it is looked at again.
            let Some(changing) = Changing::try_begin() else { return };
            let begins = !self.is_open() && !self.is_calm.swap(true, Ordering::AcqRel);
            if begins {
                self.put_in_real();
                process.set_accepts(true);
            }
            drop(changing);
            if begins {
                self.tell(memory);
            }
            next::set_errno(errno);
        }
    }

    /// Has the server told of connections of the real listener: as it waits for them itself, where that is known and is one place. By way
    /// of the instance that is at the listener's number each would wake all processes, whatever they ask for.
    pub(crate) fn put_in_real(&self) {
        let outer = self.outer.load(Ordering::Acquire);
        let (events, data) =
            (self.outer_events.load(Ordering::Relaxed), self.outer_data.load(Ordering::Relaxed));
        let mut event = epoll_event { events, u64: data };
        // SAFETY: as the server registered the listener.
        let is_in = outer >= 0
            && unsafe { next::epoll_ctl(outer, libc::EPOLL_CTL_ADD, self.real(), &raw mut event) } == 0;
        if !is_in {
            self.register(self.real());
        }
        let inner = self.inner.load(Ordering::Acquire);
        self.has_real.store(if is_in { outer } else { inner }, Ordering::Release);
    }

    /// No more.
    pub(crate) fn take_out_real(&self) {
        let epoll = self.has_real.swap(-1, Ordering::AcqRel);
        // In a child that was made behind the library's back it is the parent's registration as well.
        // SAFETY: it asks for nothing but a number; the listener is this library's own.
        unsafe {
            if epoll >= 0 && self.owner.load(Ordering::Relaxed) == libc::getpid() {
                next::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, self.real(), null_mut());
            }
        }
    }

    /// The server waits for it here from now on, as `event` says.
    pub(crate) fn waits_in(&self, epoll: c_int, event: epoll_event) {
        let known = (self.outer_events.load(Ordering::Relaxed), self.outer_data.load(Ordering::Relaxed));
        if self.outer.load(Ordering::Acquire) == epoll && known == (event.events, event.u64) {
            return;
        }
        // Of those that are told once, or of a change, the library would have to know what they were told.
        let is_simple = event.events & (libc::EPOLLET | libc::EPOLLONESHOT) as u32 == 0;
        self.change_outer(|before| {
            let is_one = is_simple && (before == NOWHERE || before == epoll);
            self.outer_events.store(event.events, Ordering::Relaxed);
            self.outer_data.store(event.u64, Ordering::Relaxed);
            if is_one { epoll } else { SEVERAL }
        });
    }

    /// The server does not wait for it here any more.
    pub(crate) fn stops_waiting_in(&self, epoll: c_int) {
        self.change_outer(|before| if before == epoll { NOWHERE } else { before });
    }

    /// The server waits for it with poll(2), or in accept(2).
    pub(crate) fn polls(&self) {
        if self.outer.load(Ordering::Relaxed) != SEVERAL {
            self.change_outer(|_| SEVERAL);
        }
    }

    /// Where the server waits for it is another place from now on.
    fn change_outer(&self, change: impl FnOnce(c_int) -> c_int) {
        let errno = next::errno();
        let _changing = Changing::begin();
        let was_in = self.has_real.load(Ordering::Acquire) >= 0;
        self.take_out_real();
        self.outer.store(change(self.outer.load(Ordering::Acquire)), Ordering::Release);
        if was_in {
            self.put_in_real();
        }
        next::set_errno(errno);
    }

    /// Leaves it to the gate.
    fn leave_calm(&self, memory: &Memory) {
        let errno = next::errno();
        let Some(changing) = Changing::try_begin() else { return };
        let ends = !self.is_open() && self.is_calm.swap(false, Ordering::AcqRel);
        if ends {
            self.take_out_real();
            if let Some(process) = self.of_process() {
                process.set_accepts(false);
            }
        }
        drop(changing);
        if ends {
            self.tell(memory);
        }
        next::set_errno(errno);
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
        const FEW: usize = 32;
        loop {
            if !self.is_calm.load(Ordering::Acquire) {
                return None;
            }
            let generation = self.generation.load(Ordering::Acquire);
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
            let Some((slot, left)) = ready else {
                // The others need not have been told of the connection that this one was told of.
                memory.places.set_calm(false);
                self.leave_calm(memory);
                return None;
            };
            if left <= FEW {
                self.tell(memory);
            }
            let mut client = Address { bytes: [0; MAX_ADDRESS], length: 0 };
            let mut known = size_of::<[u8; MAX_ADDRESS]>() as socklen_t;
            // SAFETY: there is room for as much as is said.
            let fd = unsafe { self.accept_real(client.bytes.as_mut_ptr().cast(), &raw mut known, flags) };
            if fd < 0 {
                process.give_back_ready(slot);
                return (next::errno() != libc::EAGAIN).then_some(fd);
            }
            client.length = known.min(MAX_ADDRESS as socklen_t) as u8;
            let mut head = [0; MAX_HEAD];
            let there = reading::peek(fd, &mut head);
            match memory.tokens.first(&head[..there]) {
                First::Begins { is_told } => {
                    let prepared = Prepared { memory, generation, slot, is_told };
                    if !connections::begin_accepted(fd, (index, self), &prepared, &client, &head[..there])
                        && self.generation.load(Ordering::Acquire) == generation
                    {
                        process.give_back_ready(slot);
                    }
                }
                First::Asks => {
                    process.give_back_ready(slot);
                    if channel::send(self.control.load(Ordering::Acquire), ToGate::Accepted, fd) {
                        // SAFETY: the server does not know of it.
                        unsafe { next::close(fd) };
                        continue;
                    }
                    // It cannot be asked: the server has this one as it is, and the gate is to see to the next.
                    memory.places.set_calm(false);
                    self.leave_calm(memory);
                }
            }
            if let Some(entry) = table::entry(fd) {
                entry.set_blocking(flags & libc::SOCK_NONBLOCK == 0);
            }
            // SAFETY: as the caller says.
            unsafe { tell_address((address, length), &client) };
            return Some(fd);
        }
    }
}
