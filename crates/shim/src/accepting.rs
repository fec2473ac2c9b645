//! Accepting connections: from the gate or, without one, from the real listener.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use libc::{pollfd, sockaddr, socklen_t};

use crate::listener::Listener;
use crate::next;

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
        let (index, number) = (self.index(), self.number.load(Ordering::Acquire));
        // SAFETY: as the caller says; all other descriptors are this library's own.
        unsafe {
            let blocks = next::fcntl(number, libc::F_GETFL, 0) & libc::O_NONBLOCK == 0;
            loop {
                self.obey(index);
                let fd = self.take(index);
                if fd >= 0 {
                    return given(fd, address, length, flags);
                }
                if self.is_open() {
                    self.try_again();
                    if self.is_open() {
                        let fd = next::accept4(self.real.load(Ordering::Acquire), address, length, flags);
                        if fd >= 0 || next::errno() != libc::EAGAIN {
                            return fd;
                        }
                    }
                }
                if !blocks {
                    next::set_errno(libc::EAGAIN);
                    return -1;
                }
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

/// A connection, as accept4(2) gives it.
///
/// # Safety
/// As of accept4(2).
unsafe fn given(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
    // SAFETY: as the caller says.
    unsafe {
        let had = next::fcntl(fd, libc::F_GETFL, 0);
        let wanted =
            if flags & libc::SOCK_NONBLOCK != 0 { had | libc::O_NONBLOCK } else { had & !libc::O_NONBLOCK };
        if wanted != had {
            next::fcntl(fd, libc::F_SETFL, wanted.into());
        }
        if flags & libc::SOCK_CLOEXEC == 0 {
            next::fcntl(fd, libc::F_SETFD, 0);
        }
        if !address.is_null() && !length.is_null() {
            libc::getpeername(fd, address, length);
        }
    }
    fd
}
