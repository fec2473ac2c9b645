//! How a gate shares processors with the server that it is attached to.

extern crate std;

use std::io;

/// From now on this thread does not interrupt others when it is woken, as long as they are not at the end of their slice
/// (sched(7), `SCHED_BATCH`): on a processor that both use, what has come meanwhile is decided about at once then, and neither
/// waits for the other once for each connection.
///
/// # Errors
/// As of sched_setscheduler(2).
pub fn do_not_interrupt() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    #[allow(unsafe_code, reason = "a system call that has no safe form here")]
    // SAFETY: it reads what is given, of this thread.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
