//! [`Registry`]: all client connections, and telling them what is decided about them.

use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;

use policy::connections::{ConnectionId, ConnectionLimits, Connections};
use units::{Ratio, Span, Time};

use crate::clients::client::Client;
use crate::clients::task::Table;
use crate::runtime::memory::Memory;

/// All client connections.
#[derive(Debug)]
pub(crate) struct Registry {
    table: Rc<Table>,
    /// What they may keep in memory.
    pub(crate) memory: Memory,
    connection_limit: Cell<usize>,
}

/// So long without a request, a connection holds nothing more for one. A client that is about to ask again,
/// as browsers do for what a page consists of, has asked by then.
const CALM: Span = Span::from_secs(1);

/// So many connections are told at once to rest: it takes each of them a microsecond or two, in
/// which no other is served.
const MAX_RESTING: usize = 500;

impl Default for Registry {
    fn default() -> Self {
        let limits = ConnectionLimits::default();
        let connection_limit = Cell::new(limits.connections);
        Self { table: Rc::new(Connections::new(limits).into()), memory: Memory::default(), connection_limit }
    }
}

impl Registry {
    /// Other limits. Connections beyond them stay; there are no more until some have gone.
    pub(crate) fn set_limits(&self, limits: ConnectionLimits) {
        self.connection_limit.set(limits.connections);
        self.memory.borrow_mut().set_limit(limits.memory);
        self.table.borrow_mut().set_limits(limits);
    }

    /// Connections, of clients and to the upstream, that may be open at once.
    pub(crate) fn connection_limit(&self) -> usize {
        self.connection_limit.get()
    }

    /// Takes in a new connection.
    pub(crate) fn add(&self, address: IpAddr, now: Time) -> Rc<Client> {
        Rc::new(Client::connect(&self.table, address, now))
    }

    pub(crate) fn remove(&self, client: &Client) {
        self.table.borrow_mut().close(client.id());
    }

    /// Takes in a new stream of a connection, if there is room for another.
    pub(crate) fn add_stream(&self, connection: &Rc<Client>, now: Time) -> Option<Rc<Client>> {
        connection.stream(now).map(Rc::new)
    }

    /// A stream has ended; whether its client has taken the request back.
    pub(crate) fn remove_stream(&self, stream: &Client, now: Time, taken_back: bool) {
        self.table.borrow_mut().close_stream(now, stream.id(), taken_back);
        self.carry_out();
    }

    /// Streams of HTTP/2 open.
    pub(crate) fn streams(&self) -> usize {
        self.table.borrow().streams()
    }

    /// Streams that there was no room for.
    pub(crate) fn refused_streams(&self) -> u64 {
        self.table.borrow().refused_streams()
    }

    /// How much of requests' bodies a new connection of HTTP/2 may send before the gate asks for more.
    pub(crate) fn window(&self) -> u32 {
        self.memory.borrow().window(self.open())
    }

    /// Connections open.
    pub(crate) fn open(&self) -> usize {
        self.table.borrow().open()
    }

    /// Closes connections that have been slow for too long, and lets those rest that ask for nothing.
    pub(crate) fn sweep(&self, now: Time) {
        self.table.borrow_mut().sweep(now);
        self.carry_out();
        let table = self.table.borrow();
        let calm = table.iter().filter(|(id, task)| {
            task.is_awake() && table.phase(*id).is_idle() && now.since(table.since(*id)) > CALM
        });
        calm.take(MAX_RESTING).for_each(|(_, task)| task.rest());
    }

    /// Ends as many requests as are `wanted` that keep others from their places in the server: those of slow clients
    /// first, then those that are `stuck`.
    pub(crate) fn make_room_in_server(&self, now: Time, wanted: usize, stuck: &[ConnectionId]) {
        let mut table = self.table.borrow_mut();
        let ended = table.make_room_in_server(now, wanted);
        let rest = stuck.iter().take(wanted.saturating_sub(ended));
        rest.for_each(|stuck| table.give_up(*stuck));
        drop(table);
        self.carry_out();
    }

    /// Whether another connection can be accepted while so many to the upstream are open. If not, some are
    /// closed to make room.
    pub(crate) fn has_room(&self, now: Time, upstream: usize) -> bool {
        let has_room = self.table.borrow_mut().has_room(now, upstream);
        self.carry_out();
        has_room
    }

    /// The kernel has no descriptor for another connection: makes room.
    pub(crate) fn exhausted(&self, now: Time) {
        self.table.borrow_mut().exhausted(now);
        self.carry_out();
    }

    /// Makes room before it is needed.
    pub(crate) fn relieve(&self, now: Time, upstream: usize) {
        self.table.borrow_mut().relieve(now, upstream);
        self.carry_out();
    }

    /// So many bytes of the process are in memory.
    pub(crate) fn set_memory(&self, resident: u64) {
        self.table.borrow_mut().set_memory(resident);
    }

    /// How much of the scarcest resource is used, if that has changed enough for the policy to be told.
    pub(crate) fn changed_pressure(&self, now: Time, upstream: usize) -> Option<Ratio> {
        self.table.borrow_mut().changed_pressure(now, upstream)
    }

    /// Tells clients of HTTP/2, who can be told so between two requests, to send the next elsewhere.
    /// Those of HTTP/1 hear it with their next response.
    pub(crate) fn dismiss(&self, now: Time) {
        self.table.borrow_mut().dismiss(now);
        self.carry_out();
    }

    /// Lets each connection finish the request in hand; half of a head does not count as one.
    pub(crate) fn finish(&self, now: Time) {
        self.table.borrow_mut().finish(now);
        self.carry_out();
    }

    /// Closes every connection, whatever is in hand, but tunnels: these end in their turn.
    pub(crate) fn close_all_but_tunnels(&self, now: Time) {
        self.table.borrow_mut().close_all_but_tunnels(now);
        self.carry_out();
    }

    fn carry_out(&self) {
        let mut table = self.table.borrow_mut();
        while let Some((id, order)) = table.next_order() {
            if let Some(task) = table.get(id) {
                task.tell(order);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::peer::Peer;
    use crate::clients::task::Calm;
    use policy::connections::{Order, Phase};

    const START: Time = Time::from_nanos(1);

    #[test]
    fn behind_a_proxy_it_is_the_client_it_names_who_has_many() {
        let registry = Registry::default();
        let named = |last: u8| {
            let client = registry.add([10, 0, 0, 1].into(), START);
            client.meet(Peer::new([192, 0, 2, last].into()));
            client
        };
        let mut clients: Vec<_> = (0..40).map(|_| named(1)).collect();
        clients.push(named(2));
        clients.iter().for_each(|client| client.enter(Phase::Head, START));
        registry.set_limits(ConnectionLimits { connections: 1, ..ConnectionLimits::default() });
        registry.relieve(START + Span::from_millis(1), 0);
        let closed = |client: &Rc<Client>| client.task.order() == Order::Close;
        let number = clients.iter().filter(|client| closed(client)).count();
        assert_eq!(number, 8, "only those of the one that are too many");
        assert!(!clients.last().is_some_and(closed));
    }

    #[test]
    fn a_client_that_has_asked_for_nothing_for_a_while_is_told_to_rest() {
        let registry = Registry::default();
        let connect = |calm| {
            let client = registry.add([192, 0, 2, 1].into(), START);
            client.task.calm.set(calm);
            client
        };
        let [idle, busy, blocked, half] = [Calm::Yes, Calm::Yes, Calm::Yes, Calm::No].map(connect);
        busy.enter(Phase::Busy, START);
        blocked.blocked(true);
        let resting = |after| {
            registry.sweep(START + after);
            [&idle, &busy, &blocked, &half].map(|client| client.task.calm.get() == Calm::Rest)
        };
        assert_eq!(resting(CALM), [false; 4]);
        assert_eq!(resting(CALM + Span::from_millis(1)), [true, false, false, false]);
        let many: Vec<_> = (0..MAX_RESTING + 1).map(|_| connect(Calm::Yes)).collect();
        resting(CALM * 2);
        assert_eq!(many.iter().filter(|client| client.task.is_awake()).count(), 1, "not all at once");
    }
}
