//! Waiting for the next request of one connection and for nothing else, as processes do that serve one at a time. Where other connections
//! wait for a process, it is sent one of them in its place: the gate has the one on which nothing is asked, until something is.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use handoff::message::{MAX_LENGTH, ToServer};
use handoff::slot::State;
use libc::{nfds_t, pollfd};

use crate::channel;
use crate::clock;
use crate::connections;
use crate::connections::of;
use crate::listener::Listener;
use crate::next;
use crate::table::Entry;

/// Waits for the next request of a connection by means of `wait` (poll(2)), so many milliseconds at most; gives what poll(2) is to give. Nothing of a
/// process that serves many at a time, or where the gate has gone.
pub(crate) fn wait(
    entry: &Entry,
    polled: &mut pollfd,
    timeout: c_int,
    wait: impl Fn(*mut pollfd, nfds_t, c_int) -> c_int,
) -> Option<c_int> {
    let (listener, memory, slot) =
        of(entry).filter(|_| timeout != 0 && !connections::is_in_request(entry))?;
    let inbox = listener.inbox.load(Ordering::Acquire);
    if inbox < 0 || !connections::may_be_given_back(entry) {
        return None;
    }
    // What comes next would have to wait.
    if memory.places.is_waited_for() && connections::give_back(polled.fd, entry) {
        return Some(at_end(polled));
    }
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
        let mut both = [*polled, pollfd { fd: inbox, events: libc::POLLIN, revents: 0 }];
        let ready = wait(both.as_mut_ptr(), 2, left);
        if !slot.change(State::Alone, State::Idle) {
            slot.change(State::Recalled, State::Idle);
        }
        polled.revents = both[0].revents;
        if ready <= 0 || polled.revents != 0 {
            return Some(ready.min(1));
        }
        match next_in(inbox) {
            Next::Connection => return connections::give_back(polled.fd, entry).then(|| at_end(polled)),
            Next::Other => {}
            Next::Closed => {
                listener.obey(Listener::index(listener));
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

/// What is in an inbox.
enum Next {
    /// A connection, which is still there.
    Connection,
    /// Something else, or nothing any more.
    Other,
    /// The gate has gone.
    Closed,
}

fn next_in(inbox: c_int) -> Next {
    let mut bytes = [0u8; MAX_LENGTH];
    let errno = next::errno();
    // SAFETY: there is room for as much as is said; descriptors beside a message that is looked at stay with it.
    let length = unsafe {
        next::recv(inbox, bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_PEEK | libc::MSG_DONTWAIT)
    };
    let is_empty = length < 0 && matches!(next::errno(), libc::EAGAIN | libc::EINTR);
    next::set_errno(errno);
    let Ok(length) = usize::try_from(length) else {
        return if is_empty { Next::Other } else { Next::Closed };
    };
    match ToServer::read(&bytes[..length]) {
        _ if length == 0 => Next::Closed,
        Some(ToServer::Connection { .. }) => Next::Connection,
        // It was to have the process look.
        _ => {
            channel::receive(inbox, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC);
            Next::Other
        }
    }
}
