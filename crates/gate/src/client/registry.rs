//! [`Registry`]: all client connections, and closing those that cost more than they should.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

use slab::Slab;
use units::{Span, Time};

use super::{Client, Order, Phase};
use crate::settings::Clients;

/// All client connections.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    clients: RefCell<Slab<Rc<Client>>>,
    idle: Rc<Cell<usize>>,
}

/// How long a client may take to close its side after our last response. Those that do not are
/// mostly gone, and they hold a descriptor.
const LINGER: Span = Span::from_secs(2);

/// So long a new connection and an unfinished head are spared where room is short. A head comes
/// at once and in one piece, or the client is very slow, or it means to be.
const GRACE: Span = Span::from_millis(500);

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

    /// Connections open.
    pub(crate) fn open(&self) -> usize {
        self.clients.borrow().len()
    }

    /// Of these, connections without a request, which can be closed when others need the room.
    pub(crate) fn idle(&self) -> usize {
        self.idle.get()
    }

    /// Closes connections that have been slow for too long.
    pub(crate) fn sweep(&self, now: Time, settings: &Clients, server: Span) {
        let (header, idle) = (settings.header_timeout.into(), settings.idle_timeout.into());
        let stall = settings.stall_timeout.into();
        for (_, client) in &*self.clients.borrow() {
            let age = now.since(client.since());
            match client.phase() {
                Phase::New | Phase::Idle if age > idle => client.order(Order::Close),
                Phase::Head if age > header => client.order(Order::Timeout),
                Phase::Lingering if age > LINGER => client.order(Order::Close),
                _ => {}
            }
            let stalled = client.sending.longer_than(now, stall)
                || client.uploading.longer_than(now, stall)
                || client.answering.longer_than(now, server);
            if stalled {
                client.order(Order::Close);
            }
        }
    }

    /// Closes up to `wanted` connections without a request, those first that have been so for
    /// longest. Gives how many.
    pub(crate) fn close_idle(&self, now: Time, wanted: usize) -> usize {
        let clients = self.clients.borrow();
        let without = |client: &Rc<Client>| match client.phase() {
            Phase::Idle | Phase::Lingering => true,
            Phase::New | Phase::Head => now.since(client.since()) > GRACE,
            Phase::Busy => false,
        };
        let mut idle: Vec<&Rc<Client>> =
            clients.iter().map(|(_, client)| client).filter(|client| without(client)).collect();
        idle.sort_unstable_by_key(|client| client.since());
        idle.truncate(wanted);
        idle.iter().for_each(|client| client.order(Order::Close));
        idle.len()
    }

    /// Lets everybody finish the request in hand; half of a head is none.
    pub(crate) fn finish(&self, now: Time) {
        for (_, client) in &*self.clients.borrow() {
            let slow = client.phase() == Phase::Head && now.since(client.since()) > GRACE;
            client.order(if slow { Order::Close } else { Order::Finish });
        }
    }
}
