//! Servers that wait for many connections at a time, and have as many as they take: while others wait, the gate has those on which nothing is asked.
//!
//! What is at the number of such a connection afterwards is another socket, which is at its end. The server learns of that as it would of a client that
//! has gone, by whatever it waits with, and closes it.

use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, Ordering, fence};

use handoff::memory::Process;
use libc::epoll_event;

use crate::connections;
use crate::listener;
use crate::listener::Listener;
use crate::next;
use crate::readers;
use crate::table;
use crate::table::{Entry, Kind, Phase, Registration};

/// The process of a connection that may be given back: nothing is asked on it.
fn in_the_way(entry: &Entry) -> Option<&'static Process> {
    let process = connections::of(entry)?.0.of_process()?;
    (entry.phase() == Phase::Idle && connections::is_between(entry)).then_some(process)
}

/// A request has come on a connection, and has to wait: where the server has no room for others, the connection is given back, and it waits with the gate.
/// Whether it was.
pub(crate) fn waits(fd: c_int, entry: &Entry) -> bool {
    let is_full = |process: &Process| process.crowd() != 0 || !process.wants();
    in_the_way(entry).is_some_and(is_full) && replace(fd, entry, true)
}

/// A server is about to wait for a connection, with others, as `event` says. If the gate is to have it, what the server waits for is at its end.
pub(crate) fn registers(fd: c_int, entry: &Entry, operation: c_int, event: epoll_event) {
    let events = event.events;
    // No other thread has it until it is registered, or armed again.
    let begins = match operation {
        libc::EPOLL_CTL_ADD => entry.registered().is_none(),
        _ => events & libc::EPOLLONESHOT as u32 != 0,
    };
    // With room left as well: what is kept would take all of it in a moment.
    let is_crowded = |process: &Process| process.crowd() != 0;
    if begins && awaits_next(events) && in_the_way(entry).is_some_and(is_crowded) {
        replace(fd, entry, false);
    }
}

fn awaits_next(events: u32) -> bool {
    events & (libc::EPOLLIN | libc::EPOLLOUT) as u32 == libc::EPOLLIN as u32
}

/// A thread is about to wait for what an epoll instance has: of that it gives some back if the gate has asked for it since.
pub(crate) fn gives_back(epoll: c_int) {
    /// As many as wait, most of the time; the gate asks again if not.
    const MOST: usize = 64;
    /// So many descriptors are looked at each time.
    const LOOK: c_int = 4096;
    /// Where the next look begins.
    static NEXT: AtomicI32 = AtomicI32::new(0);
    let Some(of_epoll) = table::entry(epoll) else { return };
    let processes = || {
        let listeners = listener::of_bits(of_epoll.of_listeners.load(Ordering::Relaxed));
        listeners.filter_map(Listener::of_process)
    };
    let crowd = processes().map(Process::crowd).max().unwrap_or_default();
    if crowd == 0 || of_epoll.crowd.swap(crowd, Ordering::Relaxed) == crowd {
        return;
    }
    processes().for_each(|process| process.set_crowd_seen(crowd));
    let own = readers::thread();
    let is_here = |entry: &Entry| {
        let is_registered = entry.registration() == Registration::Done && entry.registered() == Some(epoll);
        let events = entry.events.load(Ordering::Relaxed);
        // With EPOLLONESHOT another thread may have been told of it already; with EPOLLET it is the one's that has read from it last.
        let is_own = entry.reader.load(Ordering::Relaxed) == own;
        is_registered
            && entry.phase() == Phase::Idle
            && events & libc::EPOLLONESHOT as u32 == 0
            && if events & libc::EPOLLET as u32 == 0 { awaits_next(events) } else { is_own }
    };
    let number = table::number_of_clients();
    let first = NEXT.fetch_add(LOOK.min(number), Ordering::Relaxed).rem_euclid(number);
    let fds = (first..number).chain(0..first).take(LOOK as usize);
    let clients = fds.filter_map(|fd| Some((fd, table::client(fd)?)));
    let all = clients.filter(|(_, entry)| is_here(entry));
    all.filter(|(fd, entry)| replace(*fd, entry, false)).take(MOST).for_each(drop);
}

/// As [`connections::give_back`], with another socket in the place of the connection; `is_reader` who reads from it.
fn replace(fd: c_int, entry: &Entry, is_reader: bool) -> bool {
    let errno = next::errno();
    let is_given = ended().is_some_and(|end| {
        entry.replacing.store(readers::thread(), Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let is_free = is_reader || !entry.is_read.load(Ordering::SeqCst);
        let is_given = is_free
            && entry.kind() == Kind::Client
            && in_the_way(entry).is_some()
            && connections::give_back(fd, entry);
        // SAFETY: the number is the connection's, since who closes it waits; the socket is this function's own.
        unsafe {
            if is_given {
                put(end, fd, entry);
            }
            entry.replacing.store(0, Ordering::SeqCst);
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
            // With EPOLLONESHOT the server has been told of it, and arms it again itself.
            let events = if events & once == 0 { events } else { once };
            let mut event = epoll_event { events, u64: entry.data.load(Ordering::Relaxed) };
            next::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event);
        }
    }
}

/// A socket of which epoll says that it is readable, and nothing besides, such as hung up, of which a server is told whether it asks or not; that it is at
/// its end [`crate::reading`] says. Not one for all connections: a server that closes one would go on to be told of it.
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
