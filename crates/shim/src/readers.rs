//! Who reads from a connection: nothing else is done with it meanwhile, and nothing is read while another socket is about to be at its number.

use core::sync::atomic::{Ordering, fence};

use crate::table::Entry;

/// A thread is about to read from a connection on which nothing is asked: until [`ends_to_read`] it belongs to that thread.
pub(crate) fn begins_to_read(entry: &Entry) {
    entry.is_read.store(true, Ordering::SeqCst);
    until_replaced(entry);
}

/// What was read is known.
pub(crate) fn ends_to_read(entry: &Entry) {
    if entry.is_read.load(Ordering::Relaxed) {
        entry.reader.store(thread(), Ordering::Relaxed);
        entry.is_read.store(false, Ordering::Release);
    }
}

/// Until another thread has done with replacing a connection, which takes no longer than a few calls.
pub(crate) fn until_replaced(entry: &Entry) {
    fence(Ordering::SeqCst);
    loop {
        let by = entry.replacing.load(Ordering::SeqCst);
        // A signal's handler goes on in the middle of what it has interrupted.
        if by == 0 || by == thread() {
            return;
        }
        // SAFETY: it asks for nothing.
        unsafe { libc::sched_yield() };
    }
}

/// The calling thread (pthread_self(3)).
pub(crate) fn thread() -> usize {
    // SAFETY: it asks for nothing.
    unsafe { libc::pthread_self() as usize }
}
