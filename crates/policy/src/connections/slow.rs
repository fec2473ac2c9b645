//! Which connections keep others waiting, and in which order they are closed to make room.

use alloc::vec::Vec;
use core::cmp::Reverse;

use hashbrown::HashMap;
use units::{ClassId, Span, Time};

use super::cause::Cause;
use super::entry::Entry;
use super::id::ConnectionId;
use super::phase::{Order, Phase};
use super::table::Connections;

/// So long a new connection and an unfinished head are spared where room is short. A head comes
/// at once and in one piece, or the client is very slow, or it means to be.
const HEAD_GRACE: Span = Span::from_millis(500);

/// So long the body of a request is waited for where room is short, or a client that takes its response:
/// both come and go in pieces, and cost the client more to begin again.
const BODY_GRACE: Span = Span::from_secs(2);

/// So long a client may still be sending after a response: the rest of a body that was refused, or frames of HTTP/2
/// (RFC 9113 section 6.9). TCP resets a connection that is closed with bytes unread, which takes the end
/// of the response with it.
const LEAVE_GRACE: Span = Span::from_millis(250);

/// Connections beyond this number that keep others waiting are not spared for being new, if they
/// come from one address.
const MAX_SPARED: usize = 32;

/// A connection or a stream that keeps others waiting.
struct Slow {
    id: ConnectionId,
    class: ClassId,
    owner: u64,
    waited: Span,
    grace: Span,
    /// Whether it is told to leave before it is closed, and has been.
    leave: Option<Told>,
    /// How many of the owner's are quicker.
    quicker: usize,
}

/// Whether a client of HTTP/2 has been told to ask for nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    NotYet,
    Already,
}

/// Connections of HTTP/2, and since when all of their streams keep others waiting; `None` when
/// one of them does not.
type Streamed = HashMap<ConnectionId, Option<Time>>;

impl Slow {
    fn find<P>(position: usize, entry: &Entry<P>, streamed: &Streamed, now: Time) -> Option<Self> {
        let id = ConnectionId::new(entry.generation, position);
        let (since, grace) = match entry.phase {
            Phase::Tunnel => return None,
            // Without a request, and yet the end of the last response is on its way to the client.
            phase if phase != Phase::Busy && entry.has_unsent() => (entry.taking.since()?, BODY_GRACE),
            Phase::Idle => (entry.since, Span::ZERO),
            Phase::Lingering => (entry.since, LEAVE_GRACE),
            Phase::New | Phase::Handshake | Phase::Head => (entry.since, HEAD_GRACE),
            Phase::Busy => {
                let streams = || streamed.get(&id).copied().flatten();
                (entry.kept_waiting_since().or_else(streams)?, BODY_GRACE)
            }
        };
        let told = entry.streams.map(|streams| streams.leaving.map_or(Told::NotYet, |_| Told::Already));
        let leave = told.filter(|_| entry.phase == Phase::Idle && !entry.has_unsent());
        let waited = now.since(since);
        Some(Self { id, class: entry.class, owner: entry.owner, waited, grace, leave, quicker: 0 })
    }
}

impl<P> Connections<P> {
    /// Closes up to `wanted` connections that others wait for, to make room.
    ///
    /// Clients of the less important classes go first, as far as classes are known. Then those go of whose
    /// kind (an address, or a network of IPv6) there are many that are quicker, and of these the slowest:
    /// a crowd of slow connections from a few addresses makes room for itself before it costs others theirs.
    /// Clients of HTTP/2 without a request are told to leave first, and closed a moment later.
    pub fn make_room(&mut self, now: Time, wanted: usize) {
        let streamed = self.streamed();
        self.close_slow(now, wanted, &streamed, |entry| !entry.is_stream());
    }

    /// Resets up to `wanted` streams that others wait for, in the order of [`Self::make_room`].
    pub(super) fn make_room_for_streams(&mut self, now: Time, wanted: usize) {
        self.close_slow(now, wanted, &Streamed::new(), Entry::is_stream);
    }

    /// Closes up to `wanted` connections and streams whose requests the server has and can do nothing for, because it
    /// waits for their clients, in the order of [`Self::make_room`]; gives how many.
    pub fn make_room_in_server(&mut self, now: Time, wanted: usize) -> usize {
        if wanted == 0 {
            return 0;
        }
        self.close_slow(now, wanted, &Streamed::new(), |entry| entry.placed)
    }

    /// Connections that would be free if those closed that have a request on which the client is waited for: theirs,
    /// and where the server has the request, that to the server. It takes a look at each of them, so it is not done more
    /// often than it can change much.
    pub fn slow(&mut self, now: Time) -> usize {
        const INTERVAL: Span = Span::from_millis(5);
        let (counted, slow) = self.slow;
        if now.since(counted) < INTERVAL {
            return slow;
        }
        let streamed = self.streamed();
        let slow = self.entries.iter().filter(|(position, entry)| {
            let is_busy = !entry.is_stream() && !entry.phase.is_idle();
            is_busy && Slow::find(*position, entry, &streamed, now).is_some()
        });
        let slow = slow.map(|(_, entry)| 1 + usize::from(entry.placed)).sum();
        self.slow = (now, slow);
        slow
    }

    /// Closes up to `wanted` of those that others wait for and that `is_of`; gives how many.
    fn close_slow(
        &mut self,
        now: Time,
        wanted: usize,
        streamed: &Streamed,
        is_of: impl Fn(&Entry<P>) -> bool,
    ) -> usize {
        let entries = self.entries.iter().filter(|(_, entry)| is_of(entry));
        let slow = entries.filter_map(|(position, entry)| Slow::find(position, entry, streamed, now));
        let mut slow: Vec<Slow> = slow.collect();
        slow.sort_unstable_by_key(|slow| (slow.owner, slow.waited));
        let mut quicker = 0;
        for at in 0..slow.len() {
            let same = at > 0 && slow[at - 1].owner == slow[at].owner;
            quicker = if same { quicker + 1 } else { 0 };
            slow[at].quicker = quicker;
        }
        slow.retain(|slow| slow.waited > slow.grace || slow.quicker >= MAX_SPARED);
        // Those that were told to leave make room already.
        let is_leaving = |slow: &Slow| slow.leave == Some(Told::Already);
        slow.sort_unstable_by_key(|slow| Reverse((is_leaving(slow), slow.class, slow.quicker, slow.waited)));
        slow.truncate(wanted);
        let closed = slow.len();
        for slow in slow {
            match slow.leave {
                Some(_) => self.leave(now, slow.id, LEAVE_GRACE),
                None => self.order(slow.id, Order::Close, Some(Cause::Room)),
            }
        }
        closed
    }

    fn streamed(&self) -> Streamed {
        let mut streamed = Streamed::new();
        for (_, stream) in &self.entries {
            let Some(connection) = stream.connection else { continue };
            let since = stream.kept_waiting_since();
            let all = streamed.entry(connection).or_insert(since);
            *all = all.zip(since).map(|(one, other)| one.max(other));
        }
        streamed
    }
}
