//! What each system call is to a request.

use libc::c_long;

/// As in state.h.
const READS: u8 = 1;
const WRITES: u8 = 2;
const WAITS: u8 = 4;
const LEAVES: u8 = 8;
const ACCEPTS: u8 = 16;
const JOINS: u8 = 64;

/// Calls that every architecture has.
const CALLS: [(c_long, u8); 38] = [
    (libc::SYS_read, READS | WAITS),
    (libc::SYS_readv, READS | WAITS),
    (libc::SYS_pread64, READS),
    (libc::SYS_preadv, READS),
    (libc::SYS_preadv2, READS),
    (libc::SYS_recvfrom, READS | WAITS),
    (libc::SYS_recvmsg, READS | WAITS),
    (libc::SYS_recvmmsg, READS | WAITS),
    (libc::SYS_write, WRITES),
    (libc::SYS_writev, WRITES),
    (libc::SYS_pwrite64, WRITES),
    (libc::SYS_pwritev, WRITES),
    (libc::SYS_pwritev2, WRITES),
    (libc::SYS_sendto, WRITES),
    (libc::SYS_sendmsg, WRITES),
    (libc::SYS_sendmmsg, WRITES),
    (libc::SYS_sendfile, WRITES),
    (libc::SYS_splice, WRITES),
    (libc::SYS_tee, WRITES),
    (libc::SYS_copy_file_range, WRITES),
    (libc::SYS_accept, ACCEPTS | LEAVES | WAITS),
    (libc::SYS_accept4, ACCEPTS | LEAVES | WAITS),
    (libc::SYS_epoll_pwait, LEAVES | WAITS),
    (libc::SYS_epoll_pwait2, LEAVES | WAITS),
    (libc::SYS_io_getevents, LEAVES | WAITS),
    (libc::SYS_io_uring_enter, WAITS),
    (libc::SYS_ppoll, WAITS),
    (libc::SYS_pselect6, WAITS),
    (libc::SYS_futex, JOINS),
    (libc::SYS_futex_waitv, JOINS),
    (libc::SYS_nanosleep, JOINS),
    (libc::SYS_clock_nanosleep, JOINS),
    (libc::SYS_rt_sigtimedwait, JOINS),
    (libc::SYS_rt_sigsuspend, JOINS),
    (libc::SYS_semtimedop, JOINS),
    (libc::SYS_semop, JOINS),
    (libc::SYS_wait4, JOINS),
    (libc::SYS_waitid, JOINS),
];

/// Calls that newer architectures have left out.
#[cfg(target_arch = "x86_64")]
const OLDER: [(c_long, u8); 4] = [
    (libc::SYS_epoll_wait, LEAVES | WAITS),
    (libc::SYS_poll, WAITS),
    (libc::SYS_select, WAITS),
    (libc::SYS_pause, JOINS),
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: [(c_long, u8); 0] = [];

/// Fills a table by the number of the call.
pub(super) fn fill(table: &mut [u8]) {
    for (number, kind) in CALLS.into_iter().chain(OLDER) {
        if let Some(place) = usize::try_from(number).ok().and_then(|number| table.get_mut(number)) {
            *place = kind;
        }
    }
}
