//! Waiting for events: what a server waits for says whether it wants connections, and a connection whose request is parked
//! has nothing to read.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use libc::{epoll_event, nfds_t, pollfd};

use crate::adoption;
use crate::alone;
use crate::channel;
use crate::connections;
use crate::crowded;
use crate::listener;
use crate::listener::{FROM_GATE, Listener};
use crate::next;
use crate::reading;
use crate::table;
use crate::table::{Entry, Kind, Phase, Registration};

/// epoll_ctl(2).
///
/// # Safety
/// As of epoll_ctl(2).
pub(crate) unsafe fn epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    let is_removed = operation == libc::EPOLL_CTL_DEL;
    let listener = match table::entry(fd).map(Entry::kind) {
        Some(Kind::Other) if is_removed => None,
        Some(Kind::Other) => adoption::waited_for(fd),
        Some(Kind::Listener) => adoption::adopted(fd),
        _ => None,
    };
    let of_epoll = table::entry(epoll);
    if let (Some(listener), Some(of_epoll)) = (listener, of_epoll) {
        let index = table::entry(fd).map_or(0, |entry| entry.listener.load(Ordering::Relaxed));
        let bit = 1u64 << (index % 64);
        if is_removed {
            of_epoll.listeners.fetch_and(!bit, Ordering::AcqRel);
            listener.stop_wanting_in(epoll);
        } else if !event.is_null() {
            // SAFETY: as the caller says.
            let mut plain = unsafe { *event };
            let reads = plain.events & libc::EPOLLIN as u32 != 0;
            if !reads {
                // A server that pauses.
                of_epoll.listeners.fetch_and(!bit, Ordering::AcqRel);
                listener.stop_wanting_in(epoll);
            }
            let said = plain;
            // Of several processes each has a channel of its own.
            plain.events &= !(libc::EPOLLEXCLUSIVE as u32);
            // SAFETY: as the caller says.
            let result = unsafe { next::epoll_ctl(epoll, operation, fd, &raw mut plain) };
            if reads && result == 0 {
                of_epoll.listeners.fetch_or(bit, Ordering::AcqRel);
                listener.waits_in(epoll, said);
            }
            return result;
        }
    } else if let Some(entry) = table::client(fd) {
        // SAFETY: as the caller says.
        return unsafe { of_connection((epoll, of_epoll), operation, (fd, entry), event) };
    }
    // SAFETY: as the caller says.
    unsafe { next::epoll_ctl(epoll, operation, fd, event) }
}

/// epoll_ctl(2) of a connection that the gate knows of.
///
/// # Safety
/// As of epoll_ctl(2).
unsafe fn of_connection(
    (epoll, of_epoll): (c_int, Option<&Entry>),
    operation: c_int,
    (fd, entry): (c_int, &Entry),
    event: *mut epoll_event,
) -> c_int {
    if operation == libc::EPOLL_CTL_DEL || event.is_null() {
        entry.set_registration(Registration::None);
        entry.epoll.store(0, Ordering::Release);
        // SAFETY: as the caller says.
        return unsafe { next::epoll_ctl(epoll, operation, fd, event) };
    }
    // SAFETY: as the caller says.
    let mut said = unsafe { *event };
    crowded::registers(fd, entry, operation, said);
    let before = entry.registration();
    entry.events.store(said.events, Ordering::Relaxed);
    entry.data.store(said.u64, Ordering::Relaxed);
    entry.epoll.store(epoll + 1, Ordering::Release);
    if operation == libc::EPOLL_CTL_ADD {
        entry.set_registration(Registration::Begins);
    }
    let bit = 1u64 << (entry.listener.load(Ordering::Relaxed) % 64);
    if let Some(of_epoll) = of_epoll {
        if of_epoll.listeners.load(Ordering::Relaxed) & bit != 0 {
            connections::are_many(entry);
        }
        if of_epoll.of_listeners.load(Ordering::Relaxed) & bit == 0 {
            of_epoll.of_listeners.fetch_or(bit, Ordering::Relaxed);
        }
    }
    entry.is_armed.store(u8::from(entry.phase() == Phase::Parked), Ordering::Release);
    let is_masked = entry.phase() == Phase::Parked && said.events & libc::EPOLLET as u32 == 0;
    if is_masked {
        said.events &= !(libc::EPOLLIN as u32);
    }
    // SAFETY: as the caller says.
    let result = unsafe { next::epoll_ctl(epoll, operation, fd, &raw mut said) };
    if result == 0 {
        entry.is_registered();
    } else if operation == libc::EPOLL_CTL_ADD {
        // It was there already, or is not there now.
        entry.set_registration(before);
    }
    // It may have been decided meanwhile, by a thread that saw it as it was before.
    if is_masked && entry.phase() != Phase::Parked {
        connections::rearm(fd, entry);
    }
    result
}

/// Says that the server waits for connections of the listeners that this instance has.
fn wants(epoll: c_int) {
    let Some(entry) = table::entry(epoll) else { return };
    let bits = entry.listeners.load(Ordering::Relaxed);
    listener::of_bits(bits).for_each(Listener::want);
}

/// Of what an epoll instance has said, takes out what the gate has sent, and does that; gives how many are left.
///
/// # Safety
/// There have to be so many.
unsafe fn without_ours(events: *mut epoll_event, count: c_int) -> c_int {
    let Ok(length) = usize::try_from(count) else { return count };
    if length == 0 {
        return 0;
    }
    // SAFETY: as the caller says.
    let events = unsafe { core::slice::from_raw_parts_mut(events, length) };
    let mut kept = 0;
    for at in 0..length {
        let event = events[at];
        let index = { event.u64 }.wrapping_sub(FROM_GATE);
        match usize::try_from(index).ok().filter(|index| *index < 64) {
            Some(index) => {
                if let Some(listener) = listener::at(index) {
                    listener.obey(index);
                }
            }
            None => {
                events[kept] = event;
                kept += 1;
            }
        }
    }
    kept as c_int
}

/// Waits for events with `wait`: for connections, too, of the listeners that this instance has, and without what the gate has
/// sent. `is_endless` that there is no end of the time to wait, of which the server is not told that it has come.
///
/// # Safety
/// `wait` has to write as many events as it gives.
pub(crate) unsafe fn wait(
    epoll: c_int,
    events: *mut epoll_event,
    is_endless: bool,
    wait: impl Fn() -> c_int,
) -> c_int {
    loop {
        crowded::gives_back(epoll);
        wants(epoll);
        let ready = wait();
        // SAFETY: as the caller says.
        let left = unsafe { without_ours(events, ready) };
        if left > 0 || ready <= 0 || !is_endless {
            return left;
        }
    }
}

/// poll(2), by means of `wait`, which waits for these for so many milliseconds, or without them for as long as the server has said.
///
/// # Safety
/// There have to be so many.
pub(crate) unsafe fn poll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
    wait: impl Fn(*mut pollfd, nfds_t, Option<c_int>) -> c_int,
) -> c_int {
    // SAFETY: as the caller says.
    let known = unsafe { instead_of_poll(fds, count as usize, timeout, &wait) };
    known.unwrap_or_else(|| wait(fds, count, None))
}

/// What a server waits for with poll(2): of listeners it wants connections. A thread that waits for a single connection, whose request is
/// parked, waits for the gate first, and that which waits for the next request of one may be given another connection in its place. Gives what poll(2) is
/// to give, if it is known by then.
///
/// # Safety
/// There have to be so many.
unsafe fn instead_of_poll(
    fds: *mut pollfd,
    count: usize,
    timeout: c_int,
    wait: impl Fn(*mut pollfd, nfds_t, Option<c_int>) -> c_int,
) -> Option<c_int> {
    if !channel::is_wanted() || fds.is_null() {
        return None;
    }
    // SAFETY: as the caller says.
    let fds = unsafe { core::slice::from_raw_parts_mut(fds, count) };
    for polled in fds.iter().filter(|polled| polled.events & libc::POLLIN != 0) {
        if let Some(listener) = adoption::waited_for(polled.fd) {
            listener.polls();
            listener.want();
        }
    }
    let [polled] = fds else { return None };
    let entry = table::client(polled.fd).filter(|_| polled.events & libc::POLLIN != 0)?;
    match entry.phase() {
        Phase::Parked => {
            let limit = (timeout >= 0).then_some(timeout);
            (!reading::wait_until(entry, limit)).then_some(0)
        }
        Phase::Idle => {
            alone::wait(entry, polled, timeout, |fds, count, timeout| wait(fds, count, Some(timeout)))
        }
        Phase::GivenBack => Some(alone::at_end(polled)),
        Phase::Busy | Phase::Ended => None,
    }
}
