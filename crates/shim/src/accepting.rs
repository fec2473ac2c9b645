//! Accepting connections: from the gate or, without one, from the real listener.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use handoff::message::Address;
use libc::{pollfd, sockaddr, socklen_t};

use crate::descriptors;
use crate::listener::Listener;
use crate::next;
use crate::table;
use crate::table::Entry;

impl Listener {
    /// accept4(2): the next connection, from the gate or, without one, from the real listener.
    ///
    /// # Safety
    /// As of accept4(2).
    pub(crate) unsafe fn accept(
        &self,
        address: *mut sockaddr,
        length: *mut socklen_t,
        flags: c_int,
    ) -> c_int {
        let index = self.index();
        let said = table::entry(self.number()).and_then(Entry::blocks);
        let blocks = said.unwrap_or_else(|| self.blocks.load(Ordering::Acquire));
        // SAFETY: as the caller says; all other descriptors are this library's own.
        unsafe {
            loop {
                if let Some(fd) = self.accept_in_calm(index, (address, length), flags) {
                    return fd;
                }
                if !descriptors::is_one_left() {
                    return -1;
                }
                if let Some((fd, client)) = self.take(index, flags) {
                    return given(fd, (address, length), &client, flags);
                }
                self.obey(index);
                if self.is_open() {
                    // Who is busy need not look each time whether there is a gate.
                    if self.has_just_tried() {
                        let fd = self.accept_without_gate(address, length, flags);
                        if fd >= 0 || next::errno() != libc::EAGAIN {
                            return fd;
                        }
                    }
                    self.try_again();
                    if self.is_open() {
                        let fd = self.accept_without_gate(address, length, flags);
                        if fd >= 0 || next::errno() != libc::EAGAIN {
                            return fd;
                        }
                    }
                }
                if !blocks {
                    next::set_errno(libc::EAGAIN);
                    return -1;
                }
                self.polls();
                self.want();
                let inner = self.inner.load(Ordering::Acquire);
                let mut fds = pollfd { fd: inner, events: libc::POLLIN, revents: 0 };
                if next::poll(&raw mut fds, 1, -1) < 0 {
                    return -1;
                }
            }
        }
    }
}

impl Listener {
    /// A connection that the gate knows nothing of.
    ///
    /// # Safety
    /// As of accept4(2).
    unsafe fn accept_without_gate(
        &self,
        address: *mut sockaddr,
        length: *mut socklen_t,
        flags: c_int,
    ) -> c_int {
        // SAFETY: as the caller says.
        let fd = unsafe { self.accept_real(address, length, flags) };
        if let Some(entry) = table::entry(fd) {
            // It is looked at no more.
            entry.is_none.store(true, Ordering::Relaxed);
        }
        fd
    }

    /// accept4(2) of the real listener, without waiting whatever others that have it say of it.
    ///
    /// # Safety
    /// As of accept4(2).
    pub(crate) unsafe fn accept_real(
        &self,
        address: *mut sockaddr,
        length: *mut socklen_t,
        flags: c_int,
    ) -> c_int {
        let real = self.real();
        // SAFETY: as the caller says; numbers only besides.
        unsafe {
            let said = next::fcntl(real, libc::F_GETFL, 0);
            if said >= 0 && said & libc::O_NONBLOCK == 0 {
                next::fcntl(real, libc::F_SETFL, (said | libc::O_NONBLOCK).into());
            }
            let fd = next::accept4(real, address, length, flags);
            if fd >= 0 {
                descriptors::given(fd);
            } else if matches!(next::errno(), libc::EMFILE | libc::ENFILE) {
                descriptors::are_used_up();
            }
            fd
        }
    }
}

/// A connection that the gate has sent, as accept4(2) gives it.
///
/// # Safety
/// As of accept4(2).
unsafe fn given(
    fd: c_int,
    (address, length): (*mut sockaddr, *mut socklen_t),
    client: &Address,
    flags: c_int,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe {
        // The gate does not wait.
        let waits = flags & libc::SOCK_NONBLOCK == 0;
        if waits {
            next::fcntl(fd, libc::F_SETFL, 0);
        }
        if let Some(entry) = table::entry(fd) {
            entry.set_blocking(waits);
        }
        tell_address((address, length), client);
    }
    fd
}

/// Whose a connection is, as accept4(2) says it.
///
/// # Safety
/// As of accept4(2).
pub(crate) unsafe fn tell_address((address, length): (*mut sockaddr, *mut socklen_t), client: &Address) {
    if address.is_null() || length.is_null() {
        return;
    }
    // SAFETY: as the caller says.
    unsafe {
        let room = usize::try_from(*length).unwrap_or_default();
        let known = usize::from(client.length);
        core::ptr::copy_nonoverlapping(client.bytes.as_ptr(), address.cast(), known.min(room));
        *length = socklen_t::from(client.length);
    }
}
