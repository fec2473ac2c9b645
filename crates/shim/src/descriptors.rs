//! Whether there are descriptors for what the gate sends. What comes beside a message without room for it is lost, so that is
//! found out before.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use crate::next;

/// The last that a connection was given. The kernel gives the lowest one that is free, so that most below it are in use.
static LAST: AtomicI32 = AtomicI32::new(0);
/// From which number on it is looked whether there is one: from half of the limit on (`RLIMIT_NOFILE`, getrlimit(2)).
static SHORT: AtomicI32 = AtomicI32::new(0);

/// A connection was given this one.
pub(crate) fn given(fd: c_int) {
    LAST.store(fd, Ordering::Relaxed);
}

/// There was none for a connection.
pub(crate) fn are_used_up() {
    LAST.store(c_int::MAX, Ordering::Relaxed);
}

/// Whether there is one for a connection; if not, `errno` says which limit is reached, as it does of accept(2).
pub(crate) fn is_one_left() -> bool {
    if LAST.load(Ordering::Relaxed) < short() {
        return true;
    }
    let errno = next::errno();
    // SAFETY: numbers only, of a descriptor that is this function's own.
    let probe = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if probe < 0 {
        return !matches!(next::errno(), libc::EMFILE | libc::ENFILE);
    }
    // SAFETY: as before.
    unsafe { next::close(probe) };
    next::set_errno(errno);
    true
}

fn short() -> c_int {
    let known = SHORT.load(Ordering::Relaxed);
    if known > 0 {
        return known;
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: there is room for it.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    let limit = if is_known { limit.rlim_cur } else { 0 };
    let short = c_int::try_from(limit / 2).unwrap_or(c_int::MAX).max(1);
    SHORT.store(short, Ordering::Relaxed);
    short
}
