//! [`Registry`]: all client connections, and closing those that cost more than they should.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;

use slab::Slab;
use units::{Span, Time};

use crate::clients::client::{Client, Order, Phase};
use crate::runtime::network::network;
use crate::settings::client::Clients;

/// All client connections.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    clients: RefCell<Slab<Rc<Client>>>,
    /// Of connections of HTTP/2.
    streams: RefCell<Slab<Rc<Client>>>,
    idle: Rc<Cell<usize>>,
    /// When the slow ones were counted, and how many there were.
    slow: Cell<(Time, usize)>,
}

/// How long a client may take to close its side after our last response. Those that do not are
/// mostly gone, and they hold a descriptor.
const LINGER: Span = Span::from_secs(2);

/// So long a new connection and an unfinished head are spared where room is short. A head comes
/// at once and in one piece, or the client is very slow, or it means to be.
const GRACE: Span = Span::from_millis(500);

/// The same for the body of a request, or for a client that takes its response: both come and go
/// in pieces, and cost the client more to begin again.
const PATIENCE: Span = Span::from_secs(2);

/// So long a client may hold a place in the server for nothing while others wait for one.
const HURRY: Span = Span::from_secs(5);

/// So long without a request, a connection holds nothing more for one. Whoever is about to ask again,
/// as browsers do for what a page consists of, has asked by then.
const CALM: Span = Span::from_secs(1);

/// So many connections are told at once to rest: it takes each of them a microsecond or two, in
/// which nobody else is served.
const RESTING: usize = 500;

/// More connections than this that keep the gate waiting are not spared for being new, if they
/// come from one address.
const MANY: usize = 32;

/// A client that keeps the gate waiting.
struct Slow<'a> {
    client: &'a Rc<Client>,
    address: u64,
    waited: Span,
    grace: Span,
    /// How many of the same address are quicker.
    quicker: usize,
}

/// Connections of HTTP/2 by their place in memory, and since when all of their streams keep the gate
/// waiting; none when one of them does not.
type Streamed = HashMap<*const Client, Option<Time>>;

impl<'a> Slow<'a> {
    fn find(client: &'a Rc<Client>, streamed: &Streamed, now: Time) -> Option<Self> {
        let (since, grace) = match client.phase() {
            Phase::Idle | Phase::Lingering => (client.since(), Span::ZERO),
            Phase::New | Phase::Handshake | Phase::Head => (client.since(), GRACE),
            Phase::Busy => {
                let streams = || streamed.get(&Rc::as_ptr(client)).copied().flatten();
                (client.kept_waiting_since().or_else(streams)?, PATIENCE)
            }
            Phase::Tunnel => return None,
        };
        let address = network(client.owner());
        Some(Self { client, address, waited: now.since(since), grace, quicker: 0 })
    }
}

impl Client {
    /// Whether somebody has been waited for too long.
    fn has_stalled(&self, now: Time, stall: Span, server: Span, waiting: bool) -> bool {
        let stall = if waiting && self.placed.get() { HURRY.min(stall) } else { stall };
        self.sending.longer_than(now, stall)
            || self.uploading.longer_than(now, stall)
            || self.answering.longer_than(now, server)
    }
}

/// Closes up to `wanted` of them: of the less important classes, of addresses that have many, the
/// slowest first.
fn close(mut slow: Vec<Slow<'_>>, wanted: usize) {
    slow.sort_unstable_by_key(|slow| (slow.address, slow.waited));
    let mut quicker = 0;
    for at in 0..slow.len() {
        let same = at > 0 && slow[at - 1].address == slow[at].address;
        quicker = if same { quicker + 1 } else { 0 };
        slow[at].quicker = quicker;
    }
    slow.retain(|slow| slow.waited > slow.grace || slow.quicker >= MANY);
    slow.sort_unstable_by_key(|slow| std::cmp::Reverse((slow.client.class(), slow.quicker, slow.waited)));
    slow.truncate(wanted);
    slow.iter().for_each(|slow| slow.client.order(Order::Close));
}

impl Registry {
    /// Takes in a new connection; gives it with its key.
    pub(crate) fn add(&self, address: IpAddr, now: Time) -> (usize, Rc<Client>) {
        let client = Rc::new(Client::new(address, now, Rc::clone(&self.idle)));
        (self.clients.borrow_mut().insert(Rc::clone(&client)), client)
    }

    pub(crate) fn remove(&self, key: usize) {
        if let Some(client) = self.clients.borrow_mut().try_remove(key) {
            // What the server still does for it may keep it alive; idle it is no more.
            client.enter(Phase::Lingering, client.since());
        }
    }

    /// Takes in a new stream of a connection; gives it with its key.
    pub(crate) fn add_stream(&self, connection: &Rc<Client>, now: Time) -> (usize, Rc<Client>) {
        let stream = Rc::new(connection.stream(now));
        (self.streams.borrow_mut().insert(Rc::clone(&stream)), stream)
    }

    pub(crate) fn remove_stream(&self, key: usize) {
        self.streams.borrow_mut().try_remove(key);
    }

    /// Streams of HTTP/2 open.
    pub(crate) fn streams(&self) -> usize {
        self.streams.borrow().len()
    }

    /// How much of requests' bodies a new connection of HTTP/2 may send before the gate asks for
    /// more: what all may send together is shared out, down to what the protocol begins with.
    pub(crate) fn window_share(&self) -> u32 {
        const ALL: usize = 256 << 20;
        u32::try_from(ALL / self.open().max(1)).unwrap_or(u32::MAX).max(65_535)
    }

    /// Connections open.
    pub(crate) fn open(&self) -> usize {
        self.clients.borrow().len()
    }

    /// Of these, connections without a request, which can be closed when others need the room.
    pub(crate) fn idle(&self) -> usize {
        self.idle.get()
    }

    /// Closes connections that have been slow for too long. While requests are `waiting` for a place
    /// in the server, that is sooner for those who hold one.
    pub(crate) fn sweep(&self, now: Time, settings: &Clients, server: Span, waiting: bool) {
        let (header, idle) = (settings.header_timeout.into(), settings.idle_timeout.into());
        let stall: Span = settings.stall_timeout.into();
        let mut resting = 0;
        for (_, client) in &*self.clients.borrow() {
            let age = now.since(client.since());
            match client.phase() {
                Phase::Idle if age > idle && client.is_multiplexed() => client.leave(now, LINGER),
                Phase::New | Phase::Idle if age > idle => client.order(Order::Close),
                Phase::Head if age > header => client.order(Order::Timeout),
                Phase::Handshake if age > header => client.order(Order::Close),
                Phase::Lingering if age > LINGER => client.order(Order::Close),
                _ => {}
            }
            if client.has_stalled(now, stall, server, waiting) {
                client.order(Order::Close);
            }
            if resting < RESTING && age > CALM && client.is_awake() {
                client.rest();
                resting += 1;
            }
        }
        for (_, stream) in &*self.streams.borrow() {
            if stream.has_stalled(now, stall, server, waiting) {
                stream.order(Order::Close);
            }
        }
    }

    /// Of the others, connections on which the gate waits for the client as well. It takes a look
    /// at each of them, so it is not done more often than it can change much.
    pub(crate) fn slow(&self, now: Time) -> usize {
        const OFTEN: Span = Span::from_millis(5);
        let (counted, slow) = self.slow.get();
        if now.since(counted) < OFTEN {
            return slow;
        }
        let (clients, streamed) = (self.clients.borrow(), self.streamed());
        let waits =
            |client: &Rc<Client>| !client.phase().is_idle() && Slow::find(client, &streamed, now).is_some();
        let slow = clients.iter().filter(|(_, client)| waits(client)).count();
        self.slow.set((now, slow));
        slow
    }

    fn streamed(&self) -> Streamed {
        let mut streamed = Streamed::new();
        for (_, stream) in &*self.streams.borrow() {
            let Some(connection) = &stream.connection else { continue };
            let since = stream.kept_waiting_since();
            let all = streamed.entry(Rc::as_ptr(connection)).or_insert(since);
            *all = all.zip(since).map(|(one, other)| one.max(other));
        }
        streamed
    }

    /// Closes up to `wanted` connections that the gate waits for, to make room for others.
    ///
    /// Clients of the less important classes go first, as far as classes are known. Then those go
    /// that are too many from one address, the slowest first: whoever opens connections to keep
    /// them cannot shut out the clients of other addresses.
    pub(crate) fn make_room(&self, now: Time, wanted: usize) {
        let (clients, streamed) = (self.clients.borrow(), self.streamed());
        let slow: Vec<Slow<'_>> =
            clients.iter().filter_map(|(_, client)| Slow::find(client, &streamed, now)).collect();
        close(slow, wanted);
    }

    /// Resets up to `wanted` streams that the gate waits for, in the same order.
    pub(crate) fn make_room_for_streams(&self, now: Time, wanted: usize) {
        let (streams, streamed) = (self.streams.borrow(), Streamed::new());
        close(streams.iter().filter_map(|(_, stream)| Slow::find(stream, &streamed, now)).collect(), wanted);
    }

    /// Tells clients of HTTP/2, who can be told so between two requests, to send the next elsewhere.
    /// Those of HTTP/1 hear it with their next response.
    pub(crate) fn dismiss(&self, now: Time) {
        for (_, client) in &*self.clients.borrow() {
            if client.is_multiplexed() {
                client.leave(now, GRACE);
            }
        }
    }

    /// Lets everybody finish the request in hand; half of a head is none.
    pub(crate) fn finish(&self, now: Time) {
        for (_, client) in &*self.clients.borrow() {
            if client.is_multiplexed() {
                client.leave(now, GRACE);
                continue;
            }
            let slow = client.phase() == Phase::Head && now.since(client.since()) > GRACE;
            client.order(if slow { Order::Close } else { Order::Finish });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::client::Calm;
    use crate::clients::peer::Peer;
    use units::ClassId;

    const START: Time = Time::from_nanos(1);

    fn closed(clients: &[Rc<Client>]) -> Vec<bool> {
        clients.iter().map(|client| client.order.get() == Order::Close).collect()
    }

    #[test]
    fn behind_a_proxy_it_is_the_client_it_names_who_has_many() {
        let registry = Registry::default();
        let named = |last: u8| {
            let (_, client) = registry.add([10, 0, 0, 1].into(), START);
            client.meet(Peer::new([192, 0, 2, last].into()));
            client
        };
        let mut clients: Vec<_> = (0..MANY + 8).map(|_| named(1)).collect();
        clients.push(named(2));
        registry.make_room(START + Span::from_millis(1), clients.len());
        let closed = closed(&clients);
        assert_eq!(
            closed.iter().filter(|closed| **closed).count(),
            8,
            "only those of the one that are too many"
        );
        assert_eq!(closed.last(), Some(&false));
    }

    #[test]
    fn a_connection_is_as_slow_as_its_quickest_stream() {
        let registry = Registry::default();
        let connect = || {
            let (_, client) = registry.add([192, 0, 2, 1].into(), START);
            client.multiplex();
            client
        };
        let [stuck, half] = [connect(), connect()];
        let open = |connection| registry.add_stream(connection, START).1;
        let [waits, too, other, busy] = [&stuck, &stuck, &half, &half].map(open);
        for stream in [waits, too, other] {
            stream.uploading.waits(START);
        }
        let later = START + PATIENCE + Span::from_millis(1);
        assert_eq!(registry.slow(later), 1);
        registry.make_room(later, 2);
        assert_eq!(closed(&[stuck, half]), [true, false]);
        drop(busy);
    }

    #[test]
    fn who_has_asked_for_nothing_for_a_while_is_told_to_rest() {
        let registry = Registry::default();
        let connect = |calm| {
            let (_, client) = registry.add([192, 0, 2, 1].into(), START);
            client.calm.set(calm);
            client
        };
        let [idle, busy, blocked, half] = [Calm::Yes, Calm::Yes, Calm::Yes, Calm::No].map(connect);
        busy.enter(Phase::Busy, START);
        blocked.blocked(true);
        let settings =
            crate::settings::root::Settings::new("127.0.0.1:0".parse().unwrap(), "127.0.0.1:1").unwrap();
        let resting = |after| {
            registry.sweep(START + after, &settings.client, Span::from_secs(60), false);
            [&idle, &busy, &blocked, &half].map(|client| client.calm.get() == Calm::Rest)
        };
        assert_eq!(resting(CALM), [false; 4]);
        assert_eq!(resting(CALM + Span::from_millis(1)), [true, false, false, false]);
        let many: Vec<_> = (0..RESTING + 1).map(|_| connect(Calm::Yes)).collect();
        resting(CALM * 2);
        assert_eq!(many.iter().filter(|client| client.is_awake()).count(), 1, "not all at once");
    }

    #[test]
    fn a_connection_is_of_the_class_of_its_last_request() {
        let registry = Registry::default();
        let (_, connection) = registry.add([192, 0, 2, 1].into(), START);
        connection.multiplex();
        registry.add_stream(&connection, START).1.dispatched(Some(ClassId(0)));
        assert_eq!(connection.class(), ClassId(0));
    }
}
