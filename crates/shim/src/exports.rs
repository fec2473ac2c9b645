//! The functions that servers call. Each does what the C library's does, which it calls, but for descriptors that are known.

use core::ffi::{c_int, c_long, c_ulong, c_void};
use core::slice;

use libc::{
    epoll_event, fd_set, iovec, msghdr, nfds_t, off_t, off64_t, pid_t, pollfd, sigset_t, size_t, sockaddr,
    socklen_t, ssize_t, timespec, timeval,
};

use crate::adoption;
use crate::channel;
use crate::clock;
use crate::connections;
use crate::next;
use crate::passing;
use crate::passing::Beside;
use crate::polling;
use crate::readers;
use crate::reading;
use crate::reading::May;
use crate::table;
use crate::table::Phase;
use crate::writing;
use crate::writing::How;

extern "C" fn begin() {
    table::make();
    table::make_own();
    channel::remember();
}

/// Called when the library is loaded (elf(5), `.init_array`).
#[used]
#[cfg_attr(feature = "preload", unsafe(link_section = ".init_array"))]
static BEGIN: extern "C" fn() = begin;

macro_rules! exported {
    ($($(#[$about:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block)*) => {
        $($(#[$about])*
        ///
        /// # Safety
        /// As of the C library's.
        #[cfg_attr(feature = "preload", unsafe(no_mangle))]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: as the caller says; what is passed on is what came, or as the C library wants it.
            unsafe { $body }
        })*
    };
}

/// Reads with `$next`, unless the request that is there has to wait.
macro_rules! reading {
    ($fd:ident, $flags:expr, $next:expr, $pieces:expr) => {{
        let Some(entry) = table::client($fd) else { return $next };
        match reading::may_read($fd, entry, $flags & libc::MSG_DONTWAIT == 0) {
            May::Read => {}
            May::Not(result) => return result,
        }
        let read = $next;
        reading::has_read(entry, read, $pieces);
        read
    }};
}

unsafe fn pieces<'a>(pieces: *const iovec, count: usize) -> &'a [iovec] {
    if pieces.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: as the caller says.
    unsafe { slice::from_raw_parts(pieces, count) }
}

fn piece(buffer: *const c_void, length: size_t) -> [iovec; 1] {
    [iovec { iov_base: buffer.cast_mut(), iov_len: length }]
}

fn is_peek(flags: c_int) -> bool {
    flags & libc::MSG_PEEK != 0
}

exported! {
    /// accept(2).
    fn accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
        match adoption::adopted(fd) {
            Some(listener) => listener.accept(address, length, 0),
            None => next::accept(fd, address, length),
        }
    }

    /// accept4(2).
    fn accept4(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
        match adoption::adopted(fd) {
            Some(listener) => listener.accept(address, length, flags),
            None => next::accept4(fd, address, length, flags),
        }
    }

    /// read(2).
    fn read(fd: c_int, buffer: *mut c_void, length: size_t) -> ssize_t {
        reading!(fd, 0, next::read(fd, buffer, length), &piece(buffer, length))
    }

    /// readv(2).
    fn readv(fd: c_int, into: *const iovec, count: c_int) -> ssize_t {
        reading!(fd, 0, next::readv(fd, into, count), pieces(into, count.max(0) as usize))
    }

    /// recv(2).
    fn recv(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
        if is_peek(flags) {
            return peek(fd, flags, || next::recv(fd, buffer, length, flags));
        }
        reading!(fd, flags, next::recv(fd, buffer, length, flags), &piece(buffer, length))
    }

    /// recvfrom(2).
    fn recvfrom(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int, address: *mut sockaddr, size: *mut socklen_t) -> ssize_t {
        if is_peek(flags) {
            return peek(fd, flags, || next::recvfrom(fd, buffer, length, flags, address, size));
        }
        reading!(fd, flags, next::recvfrom(fd, buffer, length, flags, address, size), &piece(buffer, length))
    }

    /// recvmsg(2).
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        if is_peek(flags) {
            return peek(fd, flags, || next::recvmsg(fd, message, flags));
        }
        reading!(fd, flags, next::recvmsg(fd, message, flags), pieces((*message).msg_iov, (*message).msg_iovlen))
    }

    /// read(2), where lengths are checked (`_FORTIFY_SOURCE`).
    fn __read_chk(fd: c_int, buffer: *mut c_void, length: size_t, _room: size_t) -> ssize_t {
        reading!(fd, 0, next::read(fd, buffer, length), &piece(buffer, length))
    }

    /// recv(2), where lengths are checked.
    fn __recv_chk(fd: c_int, buffer: *mut c_void, length: size_t, _room: size_t, flags: c_int) -> ssize_t {
        recv(fd, buffer, length, flags)
    }

    /// recvfrom(2), where lengths are checked.
    fn __recvfrom_chk(fd: c_int, buffer: *mut c_void, length: size_t, _room: size_t, flags: c_int, address: *mut sockaddr, size: *mut socklen_t) -> ssize_t {
        recvfrom(fd, buffer, length, flags, address, size)
    }

    /// write(2).
    fn write(fd: c_int, buffer: *const c_void, length: size_t) -> ssize_t {
        match table::client(fd) {
            Some(entry) => writing::write(fd, entry, &piece(buffer, length), &How::Write),
            None => next::write(fd, buffer, length),
        }
    }

    /// writev(2).
    fn writev(fd: c_int, from: *const iovec, count: c_int) -> ssize_t {
        match table::client(fd).filter(|_| count > 0) {
            Some(entry) => writing::write(fd, entry, pieces(from, count as usize), &How::Write),
            None => next::writev(fd, from, count),
        }
    }

    /// send(2).
    fn send(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t {
        match table::client(fd) {
            Some(entry) => writing::write(fd, entry, &piece(buffer, length), &How::Send(flags, None)),
            None => next::send(fd, buffer, length, flags),
        }
    }

    /// sendto(2); of a connection the address has no meaning.
    fn sendto(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int, address: *const sockaddr, size: socklen_t) -> ssize_t {
        match table::client(fd) {
            Some(entry) => writing::write(fd, entry, &piece(buffer, length), &How::Send(flags, None)),
            None => next::sendto(fd, buffer, length, flags, address, size),
        }
    }

    /// sendmsg(2).
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
        match table::client(fd) {
            Some(entry) => {
                let all = pieces((*message).msg_iov, (*message).msg_iovlen);
                writing::write(fd, entry, all, &How::Send(flags, Some(&*message)))
            }
            None if message.is_null() => next::sendmsg(fd, message, flags),
            None => {
                let mut beside = Beside::NOTHING;
                let sent = passing::passed(message, &mut beside);
                next::sendmsg(fd, &raw const sent, flags)
            }
        }
    }

    /// sendfile(2).
    fn sendfile(to: c_int, from: c_int, offset: *mut off_t, count: size_t) -> ssize_t {
        unseen(to, || next::sendfile(to, from, offset, count))
    }

    /// sendfile(2), with large files.
    fn sendfile64(to: c_int, from: c_int, offset: *mut off64_t, count: size_t) -> ssize_t {
        unseen(to, || next::sendfile64(to, from, offset, count))
    }

    /// splice(2).
    fn splice(from: c_int, at: *mut off64_t, to: c_int, offset: *mut off64_t, length: size_t, flags: u32) -> ssize_t {
        unseen(to, || next::splice(from, at, to, offset, length, flags))
    }

    /// close(2).
    fn close(fd: c_int) -> c_int {
        adoption::closing(fd);
        next::close(fd)
    }

    /// shutdown(2): who sends no more has said all.
    fn shutdown(fd: c_int, how: c_int) -> c_int {
        if let Some(entry) = table::client(fd) {
            if entry.phase() == Phase::GivenBack {
                return 0;
            }
            if how != libc::SHUT_RD {
                // No request that comes now can be answered.
                connections::over(entry, entry.response(), true);
                entry.change(Phase::Idle, Phase::Ended);
                // Another thread may have given it back just now.
                if entry.phase() == Phase::GivenBack {
                    return 0;
                }
            }
        }
        next::shutdown(fd, how)
    }

    /// dup(2): of a listener the real one, which is adopted for itself when it is used.
    fn dup(fd: c_int) -> c_int {
        adoption::duplicated(fd, next::dup(adoption::real(fd)))
    }

    /// dup2(2).
    fn dup2(from: c_int, to: c_int) -> c_int {
        if from != to {
            adoption::closing(to);
        }
        if from == to { next::dup2(from, to) } else { adoption::duplicated(from, next::dup2(adoption::real(from), to)) }
    }

    /// dup3(2).
    fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
        if from != to {
            adoption::closing(to);
        }
        if from == to { next::dup3(from, to, flags) } else { adoption::duplicated(from, next::dup3(adoption::real(from), to, flags)) }
    }

    /// epoll_ctl(2).
    fn epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
        polling::epoll_ctl(epoll, operation, fd, event)
    }

    /// epoll_wait(2).
    fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int {
        polling::wait(epoll, events, timeout < 0, || next::epoll_wait(epoll, events, most, timeout))
    }

    /// epoll_pwait(2).
    fn epoll_pwait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, signals: *const sigset_t) -> c_int {
        polling::wait(epoll, events, timeout < 0, || next::epoll_pwait(epoll, events, most, timeout, signals))
    }

    /// epoll_pwait2(2).
    fn epoll_pwait2(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: *const timespec, signals: *const sigset_t) -> c_int {
        polling::wait(epoll, events, timeout.is_null(), || next::epoll_pwait2(epoll, events, most, timeout, signals))
    }

    /// poll(2).
    fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
        polling::poll(fds, count, timeout, |fds, count, limit| next::poll(fds, count, limit.unwrap_or(timeout)))
    }

    /// poll(2), where lengths are checked.
    fn __poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, _room: size_t) -> c_int {
        poll(fds, count, timeout)
    }

    /// ppoll(2).
    fn ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, signals: *const sigset_t) -> c_int {
        let milliseconds = if timeout.is_null() {
            -1
        } else {
            ((*timeout).tv_sec.saturating_mul(1000)).saturating_add((*timeout).tv_nsec.saturating_add(999_999) / 1_000_000).min(c_int::MAX.into()) as c_int
        };
        polling::poll(fds, count, milliseconds, |fds, count, limit| {
            let limit = limit.filter(|limit| *limit >= 0).map(clock::milliseconds);
            next::ppoll(fds, count, limit.as_ref().map_or(timeout, |limit| limit), signals)
        })
    }

    /// ppoll(2), where lengths are checked.
    fn __ppoll_chk(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, signals: *const sigset_t, _room: size_t) -> c_int {
        ppoll(fds, count, timeout, signals)
    }

    /// select(2).
    fn select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *mut timeval) -> c_int {
        wanted_of(count, read);
        next::select(count, read, write, except, timeout)
    }

    /// pselect(2).
    fn pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *const timespec, signals: *const sigset_t) -> c_int {
        wanted_of(count, read);
        next::pselect(count, read, write, except, timeout, signals)
    }

    /// getsockname(2): of a listener the real one's.
    fn getsockname(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
        next::getsockname(adoption::real(fd), address, length)
    }

    /// getsockopt(2): of a listener the real one's.
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int {
        next::getsockopt(adoption::real(fd), level, name, value, length)
    }

    /// setsockopt(2): of a listener the real one's.
    fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t) -> c_int {
        if connections::is_given_back(fd) {
            return 0;
        }
        next::setsockopt(adoption::real(fd), level, name, value, length)
    }

    /// listen(2): of a listener the real one's.
    fn listen(fd: c_int, backlog: c_int) -> c_int {
        let result = next::listen(adoption::real(fd), backlog);
        if result == 0 && channel::is_wanted() {
            adoption::listens(fd);
        }
        result
    }

    /// fcntl(2). What comes third is passed on as it is, a number or a pointer.
    fn fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int {
        if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
            return adoption::duplicated(fd, next::fcntl(adoption::real(fd), command, argument));
        }
        if command == libc::F_SETFL && connections::is_given_back(fd) {
            return 0;
        }
        let result = next::fcntl(fd, command, argument);
        if command == libc::F_SETFL && result == 0 {
            adoption::says_whether_it_waits(fd, argument & c_long::from(libc::O_NONBLOCK) == 0);
        }
        result
    }

    /// fcntl(2), with large files.
    fn fcntl64(fd: c_int, command: c_int, argument: c_long) -> c_int {
        fcntl(fd, command, argument)
    }

    /// ioctl(2).
    fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
        if request == libc::FIONBIO && connections::is_given_back(fd) {
            return 0;
        }
        let result = next::ioctl(fd, request, argument);
        if request == libc::FIONBIO && result == 0 && !argument.is_null() {
            adoption::says_whether_it_waits(fd, *argument.cast::<c_int>() == 0);
        }
        result
    }

    /// syscall(2). What comes behind the number is passed on, however much of it there is. There is no io_uring: what a server
    /// has done by it, such as libuv's changes of what it waits for, would pass this library by. All who use it do without.
    fn syscall(number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long) -> c_long {
        if number == libc::SYS_io_uring_setup && channel::is_wanted() {
            next::set_errno(libc::ENOSYS);
            return -1;
        }
        next::syscall(number, a, b, c, d, e, f)
    }

    /// fork(2).
    fn fork() -> pid_t {
        let child = next::fork();
        if child == 0 && channel::is_wanted() {
            adoption::in_child();
        }
        child
    }
}

/// Looks at what is there, unless the request that is there has to wait.
fn peek(fd: c_int, flags: c_int, look: impl FnOnce() -> ssize_t) -> ssize_t {
    let may = |entry| reading::may_read(fd, entry, flags & libc::MSG_DONTWAIT == 0);
    let client = table::client(fd);
    match client.map_or(May::Read, may) {
        May::Read => {
            let result = look();
            client.iter().for_each(|entry| readers::ends_to_read(entry));
            result
        }
        May::Not(result) => result,
    }
}

/// Of a set of descriptors that are waited for, the listeners want connections.
///
/// # Safety
/// As of select(2).
unsafe fn wanted_of(count: c_int, read: *const fd_set) {
    if read.is_null() || !channel::is_wanted() {
        return;
    }
    for fd in 0..count.min(libc::FD_SETSIZE as c_int) {
        // SAFETY: as the caller says, and the number is one that fits.
        if unsafe { libc::FD_ISSET(fd, read) }
            && let Some(listener) = adoption::waited_for(fd)
        {
            listener.polls();
            listener.want();
        }
    }
}

/// Writes what is not seen here.
fn unseen(fd: c_int, write: impl FnOnce() -> ssize_t) -> ssize_t {
    let Some(entry) = table::client(fd) else { return write() };
    if entry.phase() == Phase::GivenBack {
        return writing::at_end();
    }
    let written = write();
    writing::wrote_unseen(entry, written);
    written
}
