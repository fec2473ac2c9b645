//! Waiting for the next request of one connection and for nothing else, as processes and threads do that serve one at a time. Where other connections
//! wait for a process or a thread, one is told so: the gate has the connection on which nothing is asked, until something is.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use handoff::message::{MAX_LENGTH, ToServer};
use handoff::slot::{Slot, State};
use libc::{nfds_t, pollfd};

use crate::channel;
use crate::clock;
use crate::connections;
use crate::connections::of;
use crate::listener;
use crate::listener::Listener;
use crate::next;
use crate::table::Entry;
use crate::wakers::{Waker, Woken};

/// Waits for the next request of a connection by means of `wait` (poll(2)), so many milliseconds at most; gives what poll(2) is to give. Nothing of a
/// connection that is not one process's or one thread's alone, or where the gate has gone.
pub(crate) fn wait(
    entry: &Entry,
    polled: &mut pollfd,
    timeout: c_int,
    wait: impl Fn(*mut pollfd, nfds_t, c_int) -> c_int,
) -> Option<c_int> {
    let is_between = timeout != 0 && entry.registered().is_none() && !connections::is_in_request(entry);
    let (listener, memory, slot) = of(entry).filter(|_| is_between)?;
    let process = listener.of_process()?;
    process.waits_alone();
    if !connections::may_be_given_back(entry) {
        return None;
    }
    // What comes next would have to wait.
    if memory.places.is_waited_for() && connections::give_back(polled.fd, entry) {
        return Some(at_end(polled));
    }
    let woken_by =
        if process.has_many() { WokenBy::waker(listener)? } else { WokenBy::Inboxes(Inboxes::all()) };
    slot.set_waker(woken_by.number());
    let began = clock::now();
    let mut left = timeout;
    loop {
        if !slot.change(State::Idle, State::Alone) {
            return None;
        }
        // A connection may have come to wait before this was to be seen.
        if memory.places.must_tell_wanted() {
            listener.tell(memory);
        }
        let mut all = [pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; 1 + INBOXES];
        all[0] = *polled;
        all[1..].iter_mut().zip(woken_by.descriptors()).for_each(|(place, fd)| place.fd = *fd);
        let count = 1 + woken_by.descriptors().len();
        let ready = wait(all.as_mut_ptr(), count as nfds_t, left);
        let is_recalled = is_recalled(slot);
        polled.revents = all[0].revents;
        if ready <= 0 || polled.revents != 0 {
            woken_by.is_over();
            return Some(ready.min(1));
        }
        match woken_by.said(&all[1..count], is_recalled) {
            Woken::Asked => {
                return connections::give_back(polled.fd, entry).then(|| at_end(polled));
            }
            Woken::Nothing => {}
            Woken::Over => {
                listener::all().for_each(|listener| {
                    listener.obey(listener.index());
                });
                return None;
            }
        }
        if timeout > 0 {
            let spent = c_int::try_from((clock::now() - began) / 1_000_000).unwrap_or(c_int::MAX);
            left = timeout.saturating_sub(spent).max(1);
        }
    }
}

/// What poll(2) gives of a connection that the gate has again: its end is there to be read.
pub(crate) fn at_end(polled: &mut pollfd) -> c_int {
    polled.revents = libc::POLLIN;
    1
}

/// Ends the waiting; whether the gate has recalled the connection meanwhile.
fn is_recalled(slot: &Slot) -> bool {
    !slot.change(State::Alone, State::Idle) && slot.change(State::Recalled, State::Idle)
}

/// What says that another connection waits.
enum WokenBy {
    /// The inboxes of a process with a single thread, in one of which that connection is.
    Inboxes(Inboxes),
    /// What the gate has for a thread.
    Waker(Waker, [c_int; 1]),
}

/// So many listeners a process has whose connections may take the place of others.
const INBOXES: usize = 8;

/// One of each listener.
struct Inboxes {
    fds: [c_int; INBOXES],
    number: usize,
}

impl Inboxes {
    fn all() -> Self {
        let mut inboxes = Self { fds: [-1; INBOXES], number: 0 };
        let all = listener::all().map(|listener| listener.inbox.load(Ordering::Acquire));
        for (place, fd) in inboxes.fds.iter_mut().zip(all.filter(|fd| *fd >= 0)) {
            *place = fd;
            inboxes.number += 1;
        }
        inboxes
    }
}

impl WokenBy {
    fn waker(listener: &Listener) -> Option<Self> {
        let waker = Waker::of(listener)?;
        let fd = waker.fd();
        Some(Self::Waker(waker, [fd]))
    }

    fn descriptors(&self) -> &[c_int] {
        match self {
            Self::Inboxes(inboxes) => &inboxes.fds[..inboxes.number],
            Self::Waker(_, fd) => fd,
        }
    }

    fn number(&self) -> Option<usize> {
        match self {
            Self::Inboxes(_) => None,
            Self::Waker(waker, _) => Some(waker.number()),
        }
    }

    /// The thread goes on for another reason.
    fn is_over(&self) {
        if let Self::Waker(waker, _) = self {
            waker.woken();
        }
    }

    fn said(&self, polled: &[pollfd], is_recalled: bool) -> Woken {
        match self {
            Self::Inboxes(_) => {
                let ready = polled.iter().filter(|polled| polled.revents != 0);
                ready
                    .map(|polled| next_in(polled.fd))
                    .find(|said| *said != Woken::Nothing)
                    .unwrap_or(Woken::Nothing)
            }
            Self::Waker(waker, _) => match waker.woken() {
                _ if is_recalled => Woken::Asked,
                Woken::Over => Woken::Over,
                Woken::Asked | Woken::Nothing => Woken::Nothing,
            },
        }
    }
}

fn next_in(inbox: c_int) -> Woken {
    let mut bytes = [0u8; MAX_LENGTH];
    // Descriptors beside a message that is looked at stay with it.
    match next::receive_now(inbox, &mut bytes, libc::MSG_PEEK) {
        None => Woken::Nothing,
        Some(0) => Woken::Over,
        Some(length) if matches!(ToServer::read(&bytes[..length]), Some(ToServer::Connection { .. })) => {
            Woken::Asked
        }
        // It was to have the process look.
        Some(_) => {
            channel::receive(inbox, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC);
            Woken::Nothing
        }
    }
}
