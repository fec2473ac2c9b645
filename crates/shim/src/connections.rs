//! Connections that the gate knows of, from its hands, or from accept(2), to their end.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use handoff::events::{Event, What};
use handoff::memory::{Memory, Process, SLOTS};
use handoff::message::{Address, ToGate};
use handoff::response::{Request, Response};
use handoff::slot::{Slot, State};
use libc::epoll_event;

use crate::channel;
use crate::clock;
use crate::listener;
use crate::listener::Listener;
use crate::next;
use crate::readers;
use crate::table;
use crate::table::{Entry, Kind, Phase, Registration};

/// Takes a connection in; `slot` is its place in the shared memory, and whether what is spoken on it is followed. Not one with a
/// descriptor of which nothing can be known.
pub(crate) fn begin(fd: c_int, index: usize, listener: &Listener, (slot, is_opaque): (u32, bool)) -> bool {
    let Some(entry) = table::entry(fd).filter(|_| slot < SLOTS as u32) else { return false };
    entry.slot.store(slot, Ordering::Relaxed);
    entry.listener.store(index as u8, Ordering::Relaxed);
    entry.line_sent.store(0, Ordering::Relaxed);
    entry.epoll.store(0, Ordering::Relaxed);
    entry.set_registration(Registration::None);
    entry.replacing.store(0, Ordering::Relaxed);
    entry.is_read.store(false, Ordering::Relaxed);
    entry.is_bound.store(false, Ordering::Relaxed);
    // SAFETY: the server does not know of the connection yet.
    unsafe {
        *entry.response() = Response::new(false);
        *entry.request() = Request::new();
    }
    entry.generation.store(listener.generation.load(Ordering::Acquire), Ordering::Relaxed);
    // Of what a gate has left that is gone nothing is counted.
    let is_followed = !is_opaque && !listener.is_open();
    entry.set_phase(if is_followed { Phase::Busy } else { Phase::Ended });
    table::is_client(fd);
    entry.set_kind(Kind::Client);
    listener.connections.fetch_add(1, Ordering::Relaxed);
    true
}

/// Takes a connection in that the server has accepted itself: its first request, of which this is the head, has its place. Its
/// client is told of the session that was prepared, or has one. Whether the slot is used.
pub(crate) fn begin_accepted(
    fd: c_int,
    (index, listener): (usize, &Listener),
    prepared: &Prepared,
    client: &Address,
    head: &[u8],
) -> bool {
    let Prepared { memory, generation, slot, is_told } = *prepared;
    // Of another gate's slot, or a descriptor that is not followed, the server has the connection as it is.
    let is_its = listener.generation.load(Ordering::Acquire) == generation && table::entry(fd).is_some();
    let Some(words) = memory.slots.get(slot as usize).filter(|_| is_its) else { return false };
    words.set_client(client);
    if !is_told {
        words.drop_line();
    }
    words.set(State::Busy);
    memory.places.take();
    begin(fd, index, listener, (slot, false));
    let what = if is_told { What::BeganSession } else { What::BeganFirst };
    if let Some(entry) = table::client(fd) {
        tell(entry, what, (0, 0), head);
    }
    true
}

/// What the gate has prepared for a connection that the server accepts itself.
pub(crate) struct Prepared {
    /// Where the slot is.
    pub(crate) memory: &'static Memory,
    /// Of the listener, when that was the gate's.
    pub(crate) generation: u32,
    pub(crate) slot: u32,
    /// Whether the client is told of the session.
    pub(crate) is_told: bool,
}

/// The listener that a connection came from, while the gate is there, with the memory and the connection's slot.
pub(crate) fn of(entry: &Entry) -> Option<(&'static Listener, &'static Memory, &'static Slot)> {
    let listener = listener::at(usize::from(entry.listener.load(Ordering::Relaxed)))?;
    // The slot of what the gate has again is another's.
    let memory = listener.memory().filter(|_| entry.phase() != Phase::GivenBack)?;
    // What another gate was told of is nothing to this one.
    if listener.generation.load(Ordering::Acquire) != entry.generation.load(Ordering::Relaxed) {
        return None;
    }
    let slot = memory.slots.get(entry.slot.load(Ordering::Relaxed) as usize)?;
    Some((listener, memory, slot))
}

/// The server waits for the connection and for further ones at the same time: it serves many.
pub(crate) fn are_many(entry: &Entry) {
    if let Some(process) = of(entry).and_then(|(listener, ..)| listener.of_process()) {
        process.serves_many();
    }
}

fn tell(entry: &Entry, what: What, about: (u16, u64), head: &[u8]) {
    let Some((listener, memory, _)) = of(entry) else { return };
    tell_of((listener, memory, entry.slot.load(Ordering::Relaxed)), what, about, head);
}

fn tell_of(
    (listener, memory, slot): (&Listener, &Memory, u32),
    what: What,
    (status, bytes): (u16, u64),
    head: &[u8],
) {
    memory.events.tell(Event { what, slot, time: clock::now(), status, bytes }, head);
    listener.wake(memory);
}

/// A request takes a place without being asked about.
pub(crate) fn began(entry: &Entry, head: &[u8]) {
    let Some((_, memory, slot)) = of(entry) else { return };
    if entry.change(Phase::Idle, Phase::Busy) {
        memory.places.take();
        slot.set(State::Busy);
        tell(entry, What::Began, (0, 0), head);
    }
}

/// The server passes a connection to another process.
pub(crate) fn passed_on(entry: &Entry) {
    tell(entry, What::PassedOn, (0, 0), &[]);
}

/// The server names a class for the session of the request at hand.
pub(crate) fn names_class(entry: &Entry, name: &[u8]) {
    tell(entry, What::Class, (0, 0), name);
}

/// The request at hand is over; whether there may be another.
pub(crate) fn over(entry: &Entry, response: &Response, is_last: bool) {
    if !entry.change(Phase::Busy, if is_last { Phase::Ended } else { Phase::Idle }) {
        return;
    }
    let Some((_, memory, slot)) = of(entry) else { return };
    slot.set(State::Idle);
    memory.places.give();
    tell(entry, What::Ended, (response.status(), response.bytes()), &[]);
}

/// The server closes a connection.
pub(crate) fn end(entry: &Entry) {
    // SAFETY: who closes a connection does not use it any more.
    let response = unsafe { *entry.response() };
    over(entry, &response, true);
    entry.set_kind(Kind::Other);
    readers::until_replaced(entry);
    let Some((listener, _, slot)) = of(entry) else { return };
    listener.connections.fetch_sub(1, Ordering::Relaxed);
    slot.set(State::Gone);
    tell(entry, What::Gone, (0, 0), &[]);
}

/// Of a connection that the gate has sent nothing more is known, as there was no descriptor for it: to the gate it is at its end, and so is its
/// request.
pub(crate) fn lost(listener: &Listener, (slot, is_opaque): (u32, bool)) {
    let Some(memory) = listener.memory() else { return };
    let Some(words) = memory.slots.get(slot as usize) else { return };
    words.set(State::Gone);
    if !is_opaque {
        memory.places.give();
        tell_of((listener, memory, slot), What::Ended, (0, 0), &[]);
    }
    tell_of((listener, memory, slot), What::Gone, (0, 0), &[]);
}

/// Whether what is read next is the rest of a request that was answered before it was over.
pub(crate) fn is_in_request(entry: &Entry) -> bool {
    // SAFETY: who reads a request is the one who does.
    let request = unsafe { entry.request() };
    request.has_begun() && !request.is_over()
}

/// Whether a connection may be given back instead of waiting for what comes next on it: the process, or the thread, that has it to itself is free for
/// others then.
pub(crate) fn may_be_given_back(entry: &Entry) -> bool {
    let process = of(entry).and_then(|(listener, ..)| listener.of_process());
    let is_alone = entry.registered().is_none() && process.is_some_and(Process::serves_alone);
    is_alone && is_between(entry)
}

/// Whether all that the server knows of a connection is that it is there.
pub(crate) fn is_between(entry: &Entry) -> bool {
    // SAFETY: who reads a request is the one who does.
    unsafe { entry.request() }.is_between() && !entry.is_bound.load(Ordering::Relaxed)
}

/// Whether the gate has it again, while the server has not closed it yet: what the server does to its socket is not for the next to have.
pub(crate) fn is_given_back(fd: c_int) -> bool {
    table::client(fd).is_some_and(|entry| entry.phase() == Phase::GivenBack)
}

/// Gives a connection back on which nothing has been read since the last request; whether the gate has it.
pub(crate) fn give_back(fd: c_int, entry: &Entry) -> bool {
    let Some((listener, memory, words)) = of(entry) else { return false };
    let slot = entry.slot.load(Ordering::Relaxed);
    if !entry.change(Phase::Idle, Phase::GivenBack) {
        return false;
    }
    if !channel::send(listener.control.load(Ordering::Acquire), ToGate::Kept { slot }, fd) {
        entry.set_phase(Phase::Idle);
        return false;
    }
    listener.connections.fetch_sub(1, Ordering::Relaxed);
    // The gate lets go of the slot when it has read all that was told of it before.
    words.set(State::GivenBack);
    tell_of((listener, memory, slot), What::Gone, (0, 0), &[]);
    true
}

/// What the gate has decided about a parked request, if it has; whether it goes on.
pub(crate) fn resumed(entry: &Entry) -> bool {
    let state = of(entry).map_or(State::Refused, |(.., slot)| slot.state());
    let phase = match state {
        State::Parked => return false,
        State::Busy => Phase::Busy,
        _ => Phase::Ended,
    };
    entry.change(Phase::Parked, phase);
    true
}

/// The gate has decided about a parked request.
pub(crate) fn go(index: usize, slot: u32) {
    let is_meant = |entry: &Entry| {
        entry.slot.load(Ordering::Relaxed) == slot
            && usize::from(entry.listener.load(Ordering::Relaxed)) == index
    };
    let fd =
        usize::try_from(slot).ok().and_then(|slot| FD_OF.get(slot)).map(|fd| fd.load(Ordering::Acquire) - 1);
    if let Some((fd, entry)) = fd.and_then(|fd| Some((fd, table::client(fd)?)))
        && is_meant(entry)
        && entry.phase() == Phase::Parked
        && resumed(entry)
    {
        rearm(fd, entry);
    }
}

/// The descriptor of a slot that is parked, and one more.
static FD_OF: [AtomicI32; SLOTS] = [const { AtomicI32::new(0) }; SLOTS];

/// A request waits.
pub(crate) fn parked(fd: c_int, entry: &Entry) {
    let slot = entry.slot.load(Ordering::Relaxed) as usize;
    if let Some(place) = FD_OF.get(slot) {
        place.store(fd + 1, Ordering::Release);
    }
}

/// Has the server's epoll instance say again that there is something to read.
pub(crate) fn rearm(fd: c_int, entry: &Entry) {
    let events = entry.events.load(Ordering::Relaxed);
    // A thread of the server still has it otherwise, and arms it when it is done.
    let is_armed = events & libc::EPOLLONESHOT as u32 == 0 || entry.is_armed.load(Ordering::Acquire) != 0;
    if let Some(epoll) = entry.registered().filter(|_| is_armed) {
        let data = entry.data.load(Ordering::Relaxed);
        let mut event = epoll_event { events, u64: data };
        let errno = next::errno();
        // SAFETY: as the server registered it.
        unsafe { next::epoll_ctl(epoll, libc::EPOLL_CTL_MOD, fd, &raw mut event) };
        next::set_errno(errno);
    }
}

/// The gate is gone: what it had decided goes on, what waited for it goes on as well, and nothing is counted any more.
pub(crate) fn abandon(index: usize) {
    let of_listener =
        |(_, entry): &(c_int, &Entry)| usize::from(entry.listener.load(Ordering::Relaxed)) == index;
    let is_here = |(_, entry): &(c_int, &Entry)| entry.phase() != Phase::GivenBack;
    for (fd, entry) in table::clients().filter(of_listener).filter(is_here) {
        let was_parked = entry.change(Phase::Parked, Phase::Ended);
        entry.set_phase(Phase::Ended);
        if was_parked {
            rearm(fd, entry);
        }
    }
}
