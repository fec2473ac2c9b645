//! What is closed by time: connections that have been slow for too long, and all of them at the end.

use alloc::vec::Vec;

use units::{Span, Time};

use super::cause::Cause;
use super::entry::Entry;
use super::id::ConnectionId;
use super::phase::{Order, Phase};
use super::stall::Awaited;
use super::table::Connections;

/// How long a client may take to close its side after the last response. Those that do not are
/// mostly gone, and they hold a descriptor.
const LINGER_TIMEOUT: Span = Span::from_secs(2);

/// How long one may go on sending a request that is answered already: many look for a response only when
/// they have sent all, and it is lost when the connection is reset meanwhile (RFC 9112 section 9.6).
const MAX_LINGER: Span = Span::from_secs(30);

/// How long an unfinished head is waited for at the end, and a client that was told to go.
const LEAVE_TIMEOUT: Span = Span::from_millis(500);

/// How a connection is told to go.
#[derive(Debug, Clone, Copy)]
enum Go {
    Order(Order),
    /// With a request in hand.
    Cut(Order, Cause),
    /// One of HTTP/2: asked to leave, and closed when it has not after so long.
    Leave(Span),
}

impl<P> Connections<P> {
    /// Closes connections and streams that have been slow for too long.
    pub fn sweep(&mut self, now: Time) {
        let limits = self.limits;
        self.tell(now, |entry| {
            if let Some(awaited) = entry.stalled(now, limits.stall_timeout, limits.answer_timeout) {
                // A client whose request is in hand may not have been told anything yet.
                let is_request = awaited == Awaited::Upload && entry.phase == Phase::Busy;
                let order = if is_request { Order::Timeout } else { Order::Close };
                return Some(Go::Cut(order, Cause::Stalled(awaited)));
            }
            let age = now.since(entry.since);
            // What a client has not taken yet is not cut off because its request is over. Frames of HTTP/2 that are not of
            // a response (answers to PING) can be unsent for ever.
            let is_sending = entry.has_unsent()
                && entry.phase != Phase::New
                && (entry.streams.is_none() || age <= limits.stall_timeout);
            if entry.is_stream() || is_sending {
                return None;
            }
            match entry.phase {
                Phase::Idle if age > limits.idle_timeout && entry.streams.is_some() => {
                    Some(Go::Leave(LINGER_TIMEOUT))
                }
                Phase::New | Phase::Idle if age > limits.idle_timeout => Some(Go::Order(Order::Close)),
                Phase::Head if age > limits.header_timeout => Some(Go::Order(Order::Timeout)),
                Phase::Handshake if age > limits.header_timeout => Some(Go::Order(Order::Close)),
                Phase::Lingering if age > LINGER_TIMEOUT => {
                    let quiet = entry.upload.since().is_none_or(|since| now.since(since) > LINGER_TIMEOUT);
                    (quiet || age > MAX_LINGER).then_some(Go::Order(Order::Close))
                }
                _ => None,
            }
        });
    }

    /// Tells clients of HTTP/2, who can be told so between two requests, to send the next elsewhere.
    /// Those of HTTP/1 hear it with their next response.
    pub fn dismiss(&mut self, now: Time) {
        self.tell(now, |entry| entry.streams.map(|_| Go::Leave(LEAVE_TIMEOUT)));
    }

    /// Lets each connection finish the request in hand; half of a head does not count as one.
    pub fn finish(&mut self, now: Time) {
        self.tell(now, |entry| {
            if entry.is_stream() {
                return None;
            }
            if entry.streams.is_some() {
                return Some(Go::Leave(LEAVE_TIMEOUT));
            }
            let slow =
                entry.phase == Phase::Head && !entry.has_unsent() && now.since(entry.since) > LEAVE_TIMEOUT;
            Some(Go::Order(if slow { Order::Close } else { Order::Finish }))
        });
    }

    /// Closes every connection, whatever is in hand, but tunnels.
    pub fn close_all_but_tunnels(&mut self, now: Time) {
        self.tell(now, |entry| {
            let is_spared = entry.is_stream() || entry.phase == Phase::Tunnel;
            (!is_spared).then_some(Go::Cut(Order::Close, Cause::Drain))
        });
    }

    fn tell(&mut self, now: Time, told: impl Fn(&Entry<P>) -> Option<Go>) {
        let told = self.entries.iter().filter_map(|(position, entry)| {
            told(entry).map(|go| (ConnectionId::new(entry.generation, position), go))
        });
        let told: Vec<(ConnectionId, Go)> = told.collect();
        for (id, go) in told {
            match go {
                Go::Order(order) => self.order(id, order, None),
                Go::Cut(order, cause) => self.order(id, order, Some(cause)),
                Go::Leave(patience) => self.leave(now, id, patience),
            }
        }
    }

    /// Tells a client of HTTP/2 to ask for nothing more; if it does not go then, it is closed.
    pub(super) fn leave(&mut self, now: Time, id: ConnectionId, patience: Span) {
        let Some(entry) = self.entry_mut(id) else { return };
        let Some(streams) = &mut entry.streams else { return };
        let since = *streams.leaving.get_or_insert(now);
        let gone = entry.phase != Phase::Busy && !entry.has_unsent() && now.since(since) > patience;
        self.order(id, if gone { Order::Close } else { Order::Finish }, None);
    }
}
