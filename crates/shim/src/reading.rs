//! Reading from connections: where a request begins, and whether it may.

use core::ffi::{c_int, c_long, c_void};
use core::ptr::null;
use core::sync::atomic::Ordering;

use handoff::events::MAX_HEAD;
use handoff::memory::Memory;
use handoff::response::{Request, Response};
use handoff::slot::{Slot, State};
use handoff::tokens;
use libc::{iovec, ssize_t};

use crate::alone;
use crate::clock;
use crate::connections;
use crate::connections::of;
use crate::crowded;
use crate::next;
use crate::readers;
use crate::table::{Entry, Phase};

/// Whether the server may read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum May {
    /// It may.
    Read,
    /// It is to be told this instead, with what `errno` says.
    Not(ssize_t),
}

impl May {
    /// The end of the connection.
    const END: Self = Self::Not(0);

    /// Nothing is there, if not.
    fn read(may: bool) -> Self {
        if !may {
            next::set_errno(libc::EAGAIN);
        }
        if may { Self::Read } else { Self::Not(-1) }
    }
}

/// Whether the server may read. A request that begins takes its place when it has been read, unless somebody waits for one. `waits` is whether it waits
/// at all, if the connection is one for that.
pub(crate) fn may_read(fd: c_int, entry: &Entry, waits: bool) -> May {
    let may = may_begin_to_read(fd, entry, waits);
    if matches!(may, May::Not(_)) {
        readers::ends_to_read(entry);
    }
    may
}

fn may_begin_to_read(fd: c_int, entry: &Entry, waits: bool) -> May {
    match entry.phase() {
        Phase::Busy | Phase::Ended => May::Read,
        Phase::GivenBack => May::END,
        Phase::Parked => May::read(connections::resumed(entry) || wait(fd, entry, blocks(fd, entry, waits))),
        Phase::Idle => {
            readers::begins_to_read(entry);
            if entry.phase() == Phase::GivenBack {
                return May::END;
            }
            let Some((listener, memory, slot)) = of(entry).filter(|_| !connections::is_in_request(entry))
            else {
                return May::Read;
            };
            let blocks = blocks(fd, entry, waits);
            if blocks.is_some() && !is_readable(fd, entry) {
                return May::Not(-1);
            }
            if entry.phase() == Phase::GivenBack {
                return May::END;
            }
            let may_begin = slot.may_begin() && memory.places.are_open() && begins_whole(fd, entry, memory);
            if may_begin || !has_something(fd) {
                return May::Read;
            }
            // It waits with the gate, and the process is free for one that need not.
            let is_given_back = if connections::may_be_given_back(entry) {
                connections::give_back(fd, entry)
            } else {
                crowded::waits(fd, entry)
            };
            if is_given_back {
                return May::END;
            }
            // SAFETY: who reads a request is the one who does, and writes its response afterwards.
            unsafe {
                *entry.request() = Request::new();
                *entry.response() = Response::new(false);
            }
            entry.is_armed.store(0, Ordering::Release);
            slot.set(State::Parked);
            entry.set_phase(Phase::Parked);
            connections::parked(fd, entry);
            mask(fd, entry);
            if let Some(epoll) = entry.registered() {
                let index = usize::from(entry.listener.load(Ordering::Relaxed));
                listener.listen_with(epoll, index);
            }
            if !listener.park(entry.slot.load(Ordering::Relaxed), fd) {
                // It cannot be asked: the request goes on.
                slot.set(State::Idle);
                entry.set_phase(Phase::Idle);
                connections::rearm(fd, entry);
                return May::Read;
            }
            May::read(wait(fd, entry, blocks))
        }
    }
}

/// Where rules look at each request: begins one whose whole head is there, for the gate to be told of all of it, and not only of what
/// the server happens to read first. Whether the server may read; not if the gate is to be asked.
fn begins_whole(fd: c_int, entry: &Entry, memory: &Memory) -> bool {
    if !memory.tokens.are_heads_looked_at() {
        return true;
    }
    let mut head = [0; MAX_HEAD];
    let there = peek(fd, &mut head);
    if there == 0 {
        return true;
    }
    let is_whole = tokens::is_whole(&head[..there]);
    if is_whole {
        // SAFETY: who reads a request is the one who does, and writes its response afterwards.
        unsafe {
            *entry.request() = Request::new();
            *entry.response() = Response::new(false);
        }
        connections::began(entry, &head[..there]);
    }
    is_whole
}

/// The flags of a descriptor whose user waits for something to read; nothing of others.
fn blocks(fd: c_int, entry: &Entry, waits: bool) -> Option<c_long> {
    if !waits || entry.registered().is_some() || entry.blocks() == Some(false) {
        return None;
    }
    // SAFETY: a number only.
    let flags = unsafe { next::fcntl(fd, libc::F_GETFL, 0) };
    (flags & libc::O_NONBLOCK == 0).then_some(flags.into())
}

/// Waits until there is something to read, or the end: what the next request needs is known only then. For as long as the
/// read would have waited (`SO_RCVTIMEO`, socket(7)).
fn is_readable(fd: c_int, entry: &Entry) -> bool {
    // SAFETY: there is room for as much as is said, and it is one descriptor.
    unsafe {
        let mut limit: libc::timeval = core::mem::zeroed();
        let mut length = size_of::<libc::timeval>() as libc::socklen_t;
        let into = (&raw mut limit).cast::<c_void>();
        let errno = next::errno();
        if next::getsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO, into, &raw mut length) != 0 {
            next::set_errno(errno);
        }
        let milliseconds = limit.tv_sec.saturating_mul(1000).saturating_add(limit.tv_usec / 1000);
        let timeout = if milliseconds > 0 { milliseconds.min(c_int::MAX.into()) as c_int } else { -1 };
        let mut fds = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let alone =
            alone::wait(entry, &mut fds, timeout, |fds, count, timeout| next::poll(fds, count, timeout));
        let ready = alone.unwrap_or_else(|| next::poll(&raw mut fds, 1, timeout));
        if ready == 0 {
            next::set_errno(libc::EAGAIN);
        }
        ready > 0
    }
}

/// Whether there is anything to read, without which the server learns of the end of the connection, or that there is nothing.
fn has_something(fd: c_int) -> bool {
    peek(fd, &mut [0]) > 0
}

/// Looks at what is there, without waiting; gives how much.
pub(crate) fn peek(fd: c_int, into: &mut [u8]) -> usize {
    next::receive_now(fd, into, libc::MSG_PEEK).unwrap_or_default()
}

/// Has a level-triggered epoll instance be silent about what cannot be read now.
pub(crate) fn mask(fd: c_int, entry: &Entry) {
    let events = entry.events.load(Ordering::Relaxed);
    if let Some(epoll) = entry.registered()
        && events & (libc::EPOLLET | libc::EPOLLONESHOT) as u32 == 0
    {
        let data = entry.data.load(Ordering::Relaxed);
        let mut event = libc::epoll_event { events: events & !(libc::EPOLLIN as u32), u64: data };
        let errno = next::errno();
        // SAFETY: as the server registered it, but for one event.
        unsafe { next::epoll_ctl(epoll, libc::EPOLL_CTL_MOD, fd, &raw mut event) };
        next::set_errno(errno);
        if entry.phase() != Phase::Parked {
            connections::rearm(fd, entry);
        }
    }
}

/// A thread that has the connection to itself waits here; one that would not wait is to come again.
fn wait(fd: c_int, entry: &Entry, blocks: Option<c_long>) -> bool {
    let Some(flags) = blocks else { return false };
    wait_until(entry, None);
    // The gate does not wait, and has changed the flags for that.
    // SAFETY: a number only.
    unsafe { next::fcntl(fd, libc::F_SETFL, flags) };
    true
}

/// Waits until the gate has decided, or so many milliseconds; whether it has.
pub(crate) fn wait_until(entry: &Entry, timeout: Option<c_int>) -> bool {
    let is_decided = || connections::resumed(entry) || entry.phase() != Phase::Parked;
    let sleeps = |sleeps: bool| of(entry).map(|(.., slot)| slot.set_sleeps(sleeps));
    sleeps(true);
    let is_in_time = sleep_until(entry, timeout, is_decided);
    sleeps(false);
    // What was decided just now, no message tells of.
    is_in_time || is_decided()
}

fn sleep_until(entry: &Entry, timeout: Option<c_int>, is_decided: impl Fn() -> bool) -> bool {
    /// So often is looked whether the gate is there.
    const LOOK: c_int = 100;
    let mut left = timeout;
    loop {
        if is_decided() {
            return true;
        }
        let Some((listener, _, slot)) = of(entry) else { return true };
        if listener.is_deserted() {
            let index = usize::from(entry.listener.load(Ordering::Relaxed));
            listener.obey(index);
            continue;
        }
        let step = left.map_or(LOOK, |left| left.min(LOOK));
        if step <= 0 {
            return false;
        }
        sleep(slot, step);
        left = left.map(|left| left - step);
    }
}

/// Until the word of a slot that is parked changes, or so many milliseconds.
fn sleep(slot: &Slot, milliseconds: c_int) {
    let time = clock::milliseconds(milliseconds);
    let errno = next::errno();
    // SAFETY: the word is there for as long as the process is.
    unsafe {
        let word = slot.word.as_ptr().cast::<c_void>();
        libc::syscall(
            libc::SYS_futex,
            word,
            libc::FUTEX_WAIT,
            State::Parked as u32,
            &raw const time,
            null::<c_void>(),
            0,
        );
    }
    next::set_errno(errno);
}

/// So many bytes were read into these pieces.
///
/// # Safety
/// The pieces have to be there, as they were read into.
pub(crate) unsafe fn has_read(entry: &Entry, read: ssize_t, pieces: &[iovec]) {
    let mut left = usize::try_from(read).unwrap_or_default();
    for piece in pieces {
        let length = piece.iov_len.min(left);
        left -= length;
        if length > 0 && matches!(entry.phase(), Phase::Idle | Phase::Busy) {
            // SAFETY: as the caller says.
            has_come(entry, unsafe { core::slice::from_raw_parts(piece.iov_base.cast::<u8>(), length) });
        }
    }
    readers::ends_to_read(entry);
}

/// These bytes have come. What is left of a request that was answered before it was over begins no other.
fn has_come(entry: &Entry, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: who reads a request is the one who does.
        let request = unsafe { entry.request() };
        let is_next = request.is_over();
        if is_next {
            *request = Request::new();
        }
        let (had_begun, was_head) = (request.has_begun(), request.is_head());
        let end = request.read(bytes).unwrap_or(bytes.len());
        let is_idle = entry.phase() == Phase::Idle;
        if request.binds_connection() || is_next && !is_idle {
            entry.is_bound.store(true, Ordering::Relaxed);
        }
        if !had_begun && request.has_begun() && is_idle {
            // SAFETY: who reads the head of a request writes its response afterwards.
            unsafe { *entry.response() = Response::new(false) };
            connections::began(entry, bytes);
        }
        // One that was sent before the answer to the one before is counted with that.
        let is_followed = !is_next || is_idle;
        if request.is_head() && !was_head && is_followed {
            // SAFETY: who reads the head of a request writes its response afterwards.
            unsafe { entry.response() }.set_of_head();
        }
        bytes = &bytes[end..];
    }
}
