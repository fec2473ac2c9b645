//! Adopting listeners when they are used first, and letting them go.

use core::ffi::{c_int, c_void};
use core::mem::size_of;
use core::sync::atomic::Ordering;

use libc::socklen_t;

use crate::attaching::Answer;
use crate::channel;
use crate::connections;
use crate::listener::{CHANGING, Changing, LISTENERS_OF_PROCESS, Listener, NOWHERE, at, high, of_bits};
use crate::next;
use crate::table;
use crate::table::{Entry, Kind};
use crate::wakers;

/// The listener that this is, adopted by now; nothing of what is not one, or not one that the gate serves.
pub(crate) fn adopted(fd: c_int) -> Option<&'static Listener> {
    if !channel::is_wanted() {
        return None;
    }
    let entry = table::entry(fd)?;
    match entry.kind() {
        Kind::Client | Kind::Foreign => None,
        Kind::Listener => {
            let listener = at(usize::from(entry.listener.load(Ordering::Acquire)))?;
            // SAFETY: it asks for nothing but a number.
            let is_owner = || listener.owner.load(Ordering::Relaxed) == unsafe { libc::getpid() };
            if !table::is_own().unwrap_or_else(is_owner) {
                in_child();
                return adopted(fd);
            }
            Some(listener)
        }
        Kind::Other if is_listener(fd) => adopt(fd, entry),
        Kind::Other => None,
    }
}

/// As [`adopted`], of one among many that are waited for again and again: which of them are something else is kept.
pub(crate) fn waited_for(fd: c_int) -> Option<&'static Listener> {
    let entry = table::entry(fd)?;
    if entry.is_none.load(Ordering::Relaxed) || !channel::is_wanted() {
        return None;
    }
    let listener = adopted(fd);
    if listener.is_none() {
        entry.is_none.store(true, Ordering::Relaxed);
    }
    listener
}

fn is_listener(fd: c_int) -> bool {
    let option = |name: c_int| {
        let (mut value, mut length) = (0 as c_int, size_of::<c_int>() as socklen_t);
        let into = (&raw mut value).cast::<c_void>();
        // SAFETY: there is room for as much as is said.
        let answer = unsafe { next::getsockopt(fd, libc::SOL_SOCKET, name, into, &raw mut length) };
        (answer == 0).then_some(value)
    };
    let errno = next::errno();
    let is_one = option(libc::SO_ACCEPTCONN) == Some(1)
        && matches!(option(libc::SO_DOMAIN), Some(libc::AF_INET | libc::AF_INET6))
        && option(libc::SO_TYPE) == Some(libc::SOCK_STREAM);
    next::set_errno(errno);
    is_one
}

fn adopt(fd: c_int, entry: &'static Entry) -> Option<&'static Listener> {
    let _changing = Changing::begin();
    if entry.kind() != Kind::Other {
        return at(usize::from(entry.listener.load(Ordering::Acquire)))
            .filter(|_| entry.kind() == Kind::Listener);
    }
    let errno = next::errno();
    let index = LISTENERS_OF_PROCESS.iter().position(|listener| !listener.is_used.load(Ordering::Acquire))?;
    let listener = &LISTENERS_OF_PROCESS[index];
    // SAFETY: descriptors that are this library's own, and the listener, whose number stays as it is.
    let is_ours = unsafe {
        let flags = next::fcntl(fd, libc::F_GETFL, 0);
        let blocks = entry.blocks().unwrap_or(flags & libc::O_NONBLOCK == 0);
        listener.blocks.store(blocks, Ordering::Release);
        let (real, inner) = (high(fd), libc::epoll_create1(libc::EPOLL_CLOEXEC));
        let kept = high(inner);
        listener.real.store(real, Ordering::Release);
        listener.inner.store(kept, Ordering::Release);
        listener.number.store(fd, Ordering::Release);
        listener.connections.store(0, Ordering::Release);
        listener.is_calm.store(false, Ordering::Release);
        listener.outer.store(NOWHERE, Ordering::Release);
        listener.has_real.store(-1, Ordering::Release);
        listener.owner.store(libc::getpid(), Ordering::Release);
        let answer = if real >= 0 && kept >= 0 { listener.ask(false) } else { Answer::NotOurs };
        if matches!(answer, Answer::NotOurs) {
            for own in [real, kept, inner] {
                next::close(own);
            }
            entry.set_kind(Kind::Foreign);
            false
        } else {
            if matches!(answer, Answer::NoGate) {
                listener.open();
            }
            let of_exec = next::fcntl(fd, libc::F_GETFD, 0) & libc::FD_CLOEXEC;
            next::dup3(inner, fd, if of_exec != 0 { libc::O_CLOEXEC } else { 0 });
            next::close(inner);
            next::fcntl(fd, libc::F_SETFL, if blocks { 0 } else { libc::O_NONBLOCK.into() });
            // Processes that share the real one wait in poll(2) before, as is done here.
            next::fcntl(real, libc::F_SETFL, (flags | libc::O_NONBLOCK).into());
            entry.listener.store(index as u8, Ordering::Release);
            listener.is_used.store(true, Ordering::Release);
            entry.set_blocking(blocks);
            entry.set_kind(Kind::Listener);
            true
        }
    };
    next::set_errno(errno);
    is_ours.then_some(listener)
}

/// The user of a descriptor says whether it waits; of listeners and connections that matters whatever others do with its flags, which all have that have a
/// descriptor of it: the gate, which never waits, and other descriptors here.
pub(crate) fn says_whether_it_waits(fd: c_int, waits: bool) {
    let Some(entry) = table::entry(fd) else { return };
    let is_one = match entry.kind() {
        Kind::Listener | Kind::Client => true,
        Kind::Other => entry.blocks().is_some() || is_listener(fd),
        _ => false,
    };
    if is_one {
        entry.set_blocking(waits);
    }
}

/// The descriptor that is meant.
pub(crate) fn real(fd: c_int) -> c_int {
    let is_listener = |entry: &&Entry| entry.kind() == Kind::Listener;
    let listener = table::entry(fd).filter(is_listener).and_then(|_| adopted(fd));
    listener.map_or(fd, Listener::real)
}

/// There is another descriptor of one; gives it. Of a listener it waits, or not, as that does, of which the real one says nothing
/// any more once another descriptor of it was adopted.
pub(crate) fn duplicated(from: c_int, to: c_int) -> c_int {
    if let (Some(blocks), Some(entry)) = (table::entry(from).and_then(Entry::blocks), table::entry(to)) {
        entry.set_blocking(blocks);
    }
    to
}

/// A socket has begun to listen.
pub(crate) fn listens(fd: c_int) {
    let errno = next::errno();
    // SAFETY: a number only.
    let flags = unsafe { next::fcntl(fd, libc::F_GETFL, 0) };
    next::set_errno(errno);
    if let Some(entry) = table::entry(fd) {
        entry.forget_that_it_is_none();
        if entry.blocks().is_none() {
            entry.set_blocking(flags & libc::O_NONBLOCK == 0);
        }
    }
}

/// A descriptor is about to be closed, or to become another.
pub(crate) fn closing(fd: c_int) {
    let Some(entry) = table::entry(fd) else { return };
    entry.forget_blocking();
    entry.forget_that_it_is_none();
    match entry.kind() {
        Kind::Other => {
            let bits = entry.listeners.load(Ordering::Relaxed);
            if bits != 0 {
                entry.listeners.store(0, Ordering::Relaxed);
            }
            entry.forget_connections();
            of_bits(bits).for_each(|listener| listener.stops_waiting_in(fd));
        }
        Kind::Client => connections::end(entry),
        Kind::Foreign => entry.set_kind(Kind::Other),
        Kind::Listener => {
            entry.set_kind(Kind::Other);
            let index = usize::from(entry.listener.load(Ordering::Acquire));
            let Some(listener) = at(index) else { return };
            connections::abandon(index);
            listener.let_go();
        }
    }
}

/// In a child of a process that had adopted listeners: each is the real one again, and what came from the gate is the parent's.
pub(crate) fn in_child() {
    let errno = next::errno();
    table::is_own();
    CHANGING.store(0, Ordering::Release);
    wakers::forget();
    for listener in &LISTENERS_OF_PROCESS {
        if listener.is_used.swap(false, Ordering::AcqRel) {
            let (real, number) =
                (listener.real.load(Ordering::Acquire), listener.number.load(Ordering::Acquire));
            // SAFETY: the copies are this library's own, and so is what stands at the number.
            unsafe {
                let of_exec = next::fcntl(number, libc::F_GETFD, 0) & libc::FD_CLOEXEC;
                next::dup3(real, number, if of_exec != 0 { libc::O_CLOEXEC } else { 0 });
            }
            listener.close_own();
        }
    }
    table::forget();
    next::set_errno(errno);
}
