//! The functions that would be called without this library (dlsym(3), `RTLD_NEXT`).

use core::ffi::{CStr, c_int, c_long, c_ulong, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use libc::{
    epoll_event, fd_set, iovec, msghdr, nfds_t, off_t, off64_t, pid_t, pollfd, sigset_t, size_t, sockaddr,
    socklen_t, ssize_t, timespec, timeval,
};

/// In the place of one that this C library does not have.
extern "C" fn missing() -> ssize_t {
    set_errno(libc::ENOSYS);
    -1
}

fn find(at: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let there = at.load(Ordering::Relaxed);
    if !there.is_null() {
        return there;
    }
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    let found = if found.is_null() { missing as *mut c_void } else { found };
    at.store(found, Ordering::Relaxed);
    found
}

macro_rules! next {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(pub(crate) unsafe fn $name($($argument: $type),*) -> $result {
            static AT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            let name = const {
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name with a zero"),
                }
            };
            // SAFETY: by its name it is the function of this type.
            unsafe {
                let function: unsafe extern "C" fn($($type),*) -> $result = transmute(find(&AT, name));
                function($($argument),*)
            }
        })*
    };
}

next! {
    accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    accept4(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int;
    read(fd: c_int, buffer: *mut c_void, length: size_t) -> ssize_t;
    readv(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    recv(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
    recvfrom(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int, address: *mut sockaddr, size: *mut socklen_t) -> ssize_t;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    write(fd: c_int, buffer: *const c_void, length: size_t) -> ssize_t;
    writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t;
    send(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t;
    sendto(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int, address: *const sockaddr, size: socklen_t) -> ssize_t;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    sendfile(to: c_int, from: c_int, offset: *mut off_t, count: size_t) -> ssize_t;
    sendfile64(to: c_int, from: c_int, offset: *mut off64_t, count: size_t) -> ssize_t;
    splice(from: c_int, at: *mut off64_t, to: c_int, offset: *mut off64_t, length: size_t, flags: u32) -> ssize_t;
    close(fd: c_int) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    dup(fd: c_int) -> c_int;
    dup2(from: c_int, to: c_int) -> c_int;
    dup3(from: c_int, to: c_int, flags: c_int) -> c_int;
    epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int;
    epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int;
    epoll_pwait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, signals: *const sigset_t) -> c_int;
    epoll_pwait2(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: *const timespec, signals: *const sigset_t) -> c_int;
    pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *const timespec, signals: *const sigset_t) -> c_int;
    poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, signals: *const sigset_t) -> c_int;
    select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *mut timeval) -> c_int;
    getsockname(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int;
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t) -> c_int;
    listen(fd: c_int, backlog: c_int) -> c_int;
    fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int;
    ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int;
    fork() -> pid_t;
    syscall(number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long) -> c_long;
}

pub(crate) fn errno() -> c_int {
    // SAFETY: it is this thread's.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set_errno(value: c_int) {
    // SAFETY: it is this thread's.
    unsafe { *libc::__errno_location() = value }
}

/// Receives bytes that are there, without waiting, with further flags of recv(2); gives how many: 0 where the other side is gone, and nothing where there are
/// none now. `errno` stays as it is.
pub(crate) fn receive_now(socket: c_int, into: &mut [u8], flags: c_int) -> Option<usize> {
    let before = errno();
    // SAFETY: there is room for as much as is said.
    let length = unsafe { recv(socket, into.as_mut_ptr().cast(), into.len(), flags | libc::MSG_DONTWAIT) };
    let is_empty = length < 0 && matches!(errno(), libc::EAGAIN | libc::EINTR);
    set_errno(before);
    (!is_empty).then(|| usize::try_from(length).unwrap_or_default())
}
