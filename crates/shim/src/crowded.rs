//! Servers that wait for many connections at a time, and have as many as they take: while others wait, the gate has those on which nothing is asked.
//!
//! What is at the number of such a connection afterwards is another socket, which is at its end. The server learns of that as it would of a client that
//! has gone, by whatever it waits with, and closes it.

use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use handoff::memory::Process;
use libc::epoll_event;

use crate::connections;
use crate::listener;
use crate::next;
use crate::table;
use crate::table::{Entry, Kind, Phase};

/// What is known of where a connection is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Registration {
    /// Nothing, or that it is nowhere.
    None = 0,
    /// It is about to be.
    Begins = 1,
    /// The epoll instance has it: who waits for that has the connection as long as nothing has come on it.
    Done = 2,
}

/// Whether a server is to give a connection back on which nothing is asked.
fn is_in_the_way(entry: &Entry) -> bool {
    entry.phase() == Phase::Idle && crowd_of(entry) != 0 && connections::is_between(entry)
}

fn crowd_of(entry: &Entry) -> u32 {
    let process = connections::of(entry).and_then(|(listener, ..)| listener.of_process());
    process.map_or(0, Process::crowd)
}

/// A request has come on a connection that has to wait; whether the gate has both.
pub(crate) fn waits(fd: c_int, entry: &Entry) -> bool {
    is_in_the_way(entry) && replace(fd, entry)
}

/// A server is about to wait for a connection, with others, as `event` says; whether the gate has it. What it would wait for is at its end then.
pub(crate) fn registers(fd: c_int, entry: &Entry, operation: c_int, event: epoll_event) -> bool {
    let events = event.events;
    // No other thread has it until it is registered, or armed again.
    let begins = match operation {
        libc::EPOLL_CTL_ADD => entry.registered().is_none(),
        _ => events & libc::EPOLLONESHOT as u32 != 0,
    };
    let awaits_next = events & (libc::EPOLLIN | libc::EPOLLOUT) as u32 == libc::EPOLLIN as u32;
    begins && awaits_next && is_in_the_way(entry) && replace(fd, entry)
}

/// A server that waits with an epoll instance does not wait for a listener with it any more: the gate says there when it wants connections back.
pub(crate) fn stops_waiting(epoll: c_int, index: usize) {
    let (Some(entry), Some(listener)) = (table::entry(epoll), listener::at(index)) else { return };
    let generation = listener.generation.load(Ordering::Relaxed) + 1;
    // Servers that take turns stop again and again.
    if entry.hears.swap(generation, Ordering::Relaxed) != generation && !listener.is_open() {
        listener.listen_with(epoll, index);
    }
}

/// A thread is about to wait for what an epoll instance has: of that it gives back what the gate has asked for since.
pub(crate) fn gives_back(epoll: c_int) {
    let Some(of_epoll) = table::entry(epoll) else { return };
    let crowd = listener::all().filter_map(|listener| listener.of_process()).map(Process::crowd).max();
    let crowd = crowd.unwrap_or_default();
    if crowd == 0 || of_epoll.crowd.swap(crowd, Ordering::Relaxed) == crowd {
        return;
    }
    let own = thread();
    let is_here = |entry: &Entry| {
        let is_registered = entry.registration() == Registration::Done && entry.registered() == Some(epoll);
        // Of what is said only once another thread may know already.
        let events = entry.events.load(Ordering::Relaxed);
        let is_told = events & (libc::EPOLLET | libc::EPOLLONESHOT) as u32 != 0;
        is_registered && (!is_told || entry.reader.load(Ordering::Relaxed) == own)
    };
    let all = table::clients().filter(|(_, entry)| is_here(entry) && is_in_the_way(entry));
    for (fd, entry) in all {
        if !replace(fd, entry) {
            break;
        }
    }
}

/// The calling thread (pthread_self(3)).
pub(crate) fn thread() -> usize {
    // SAFETY: it asks for nothing.
    unsafe { libc::pthread_self() as usize }
}

/// As [`connections::give_back`], with another socket in the place of the connection.
fn replace(fd: c_int, entry: &Entry) -> bool {
    let errno = next::errno();
    let is_given = ended().is_some_and(|end| {
        entry.is_replaced.store(true, Ordering::SeqCst);
        let is_given = entry.kind() == Kind::Client && connections::give_back(fd, entry);
        // SAFETY: the number is the connection's, since who closes it waits; the socket is this function's own.
        unsafe {
            if is_given {
                put(end, fd, entry);
            }
            entry.is_replaced.store(false, Ordering::SeqCst);
            next::close(end);
        }
        is_given
    });
    next::set_errno(errno);
    is_given
}

/// Has another socket at the number of a connection, registered as that was.
///
/// # Safety
/// The number has to be the connection's.
unsafe fn put(end: c_int, fd: c_int, entry: &Entry) {
    let registered = entry.registered();
    // SAFETY: as the caller says.
    unsafe {
        registered.map(|epoll| next::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, fd, null_mut()));
        next::dup3(end, fd, libc::O_CLOEXEC);
        if let Some(epoll) = registered {
            let events = entry.events.load(Ordering::Relaxed);
            let once = libc::EPOLLONESHOT as u32;
            // What is said once has been.
            let events = if events & once == 0 { events } else { once };
            let mut event = epoll_event { events, u64: entry.data.load(Ordering::Relaxed) };
            next::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event);
        }
    }
}

/// A socket that is readable, since it is at its end, and nothing besides, such as hung up, of which a server is told whether it asks or not. Not one
/// for all connections: a server that closes one would go on to be told of it.
fn ended() -> Option<c_int> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: numbers only.
    unsafe {
        let end = libc::socket(libc::AF_UNIX, kind, 0);
        let is_ended = end >= 0 && next::shutdown(end, libc::SHUT_RD) == 0;
        if end >= 0 && !is_ended {
            next::close(end);
        }
        is_ended.then_some(end)
    }
}

/// Until another thread has done with replacing a connection, which takes no longer than a few calls.
pub(crate) fn until_replaced(entry: &Entry) {
    /// More often only where a signal has interrupted that thread, and its handler closes the connection.
    const MOST: u32 = 10_000;
    for _ in 0..MOST {
        if !entry.is_replaced.load(Ordering::SeqCst) {
            return;
        }
        // SAFETY: it asks for nothing.
        unsafe { libc::sched_yield() };
    }
}
