//! Client connections: their state, what they cost, and serving them.

use std::cell::{Cell, OnceCell, RefCell};
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::task::{Context, Poll};

use http::Response;
use http1::request::{Breach, Stop};
use policy::connections::{Awaited, Cause, ConnectionId, Order, Phase};
use units::{ClassId, Time};

use crate::clients::interim::Interim;
use crate::clients::peer::Peer;
use crate::clients::task::{Table, Task};
use crate::runtime::network::network;
use crate::tunnel::tunnels::Tunnel;

/// One client connection, shared by its task, its requests and the registry; or one stream of a
/// connection of HTTP/2, which has a request of its own to wait for.
#[derive(Debug)]
pub(crate) struct Client {
    id: ConnectionId,
    /// What is known of it among all others.
    table: Rc<Table>,
    pub(crate) task: Rc<Task>,
    /// Of the socket's other end.
    pub(crate) address: IpAddr,
    peer: OnceCell<Peer>,
    /// The connection of a stream.
    connection: Option<Rc<Client>>,
    /// Whether it is a connection of HTTP/2.
    multiplexed: Cell<bool>,
    /// Requests answered, but for what has not been sent yet.
    pub(crate) answered: Cell<u64>,
    /// Whether the next answer says how to read on.
    pub(crate) wants_answer: Cell<bool>,
    /// Whether the client has said that the request in hand is its last.
    pub(crate) said_last: Cell<bool>,
    /// Whether the request in hand has got its response.
    responded: Cell<bool>,
    /// The server that has been asked for it, the last time if more than once.
    pub(crate) asked: Cell<Option<SocketAddr>>,
    /// Why nothing more of what it sends is read.
    stop: Cell<Option<Stop>>,
    /// What goes before the response to the request in hand.
    pub(crate) interim: Interim,
    /// What the connection becomes when its last response has gone.
    pub(crate) tunnel: RefCell<Option<Box<Tunnel>>>,
}

impl Client {
    /// A connection that a client has opened.
    pub(crate) fn connect(table: &Rc<Table>, address: IpAddr, now: Time) -> Self {
        let task = Rc::new(Task::new());
        let id = table.borrow_mut().connect(now, network(address), |_| Rc::clone(&task));
        Self::with(id, table, task, address, None)
    }

    /// A stream of this connection, with a request in hand, if there is room for another.
    pub(crate) fn stream(self: &Rc<Self>, now: Time) -> Option<Self> {
        let task = Rc::new(Task::new());
        let id = self.table.borrow_mut().open_stream(now, self.id, |_| Rc::clone(&task))?;
        Some(Self::with(id, &self.table, task, self.address, Some(Rc::clone(self))))
    }

    fn with(
        id: ConnectionId,
        table: &Rc<Table>,
        task: Rc<Task>,
        address: IpAddr,
        connection: Option<Rc<Self>>,
    ) -> Self {
        Self {
            id,
            table: Rc::clone(table),
            task,
            address,
            peer: OnceCell::new(),
            connection,
            multiplexed: Cell::new(false),
            answered: Cell::new(0),
            wants_answer: Cell::new(false),
            said_last: Cell::new(false),
            responded: Cell::new(false),
            asked: Cell::new(None),
            stop: Cell::new(None),
            interim: Interim::default(),
            tunnel: RefCell::new(None),
        }
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// Who is at the other end.
    pub(crate) fn peer(&self) -> &Peer {
        match &self.connection {
            Some(connection) => connection.peer(),
            None => self.peer.get_or_init(|| Peer::new(self.address)),
        }
    }

    /// Notes who is at the other end, once that is known.
    pub(crate) fn meet(&self, peer: Peer) {
        self.table.borrow_mut().set_owner(self.id, network(peer.address));
        // It is told once, before any request.
        let _ = self.peer.set(peer);
    }

    /// Whether it is a stream of a connection of HTTP/2.
    pub(crate) fn is_stream(&self) -> bool {
        self.connection.is_some()
    }

    /// Whether it is a connection of HTTP/2.
    pub(crate) fn is_multiplexed(&self) -> bool {
        self.multiplexed.get()
    }

    /// HTTP/2 is spoken: reading bytes says nothing about requests any more.
    pub(crate) fn multiplex(&self) {
        self.multiplexed.set(true);
        self.table.borrow_mut().multiplex(self.id);
    }

    pub(crate) fn phase(&self) -> Phase {
        self.table.borrow().phase(self.id)
    }

    pub(crate) fn enter(&self, phase: Phase, now: Time) {
        self.table.borrow_mut().enter(self.id, phase, now);
    }

    /// Something is awaited, unless it has been already.
    pub(crate) fn waits(&self, awaited: Awaited, now: Time) {
        self.table.borrow_mut().waits(self.id, awaited, now);
    }

    /// So many bytes moved of what is awaited.
    pub(crate) fn moved(&self, awaited: Awaited, bytes: usize) {
        self.table.borrow_mut().moved(self.id, awaited, bytes);
    }

    /// It is no longer awaited.
    pub(crate) fn over(&self, awaited: Awaited) {
        self.table.borrow_mut().over(self.id, awaited);
    }

    /// A request has got a place in the server.
    pub(crate) fn dispatched(&self, class: Option<ClassId>) {
        self.table.borrow_mut().dispatched(self.id, class);
    }

    /// Whether there is a response to the request in hand.
    pub(crate) fn has_response(&self) -> bool {
        self.responded.get()
    }

    /// There is a response to the request in hand, or none yet.
    pub(crate) fn set_has_response(&self, responded: bool) {
        self.responded.set(responded);
    }

    /// Whether the client, which has stopped sending its request, is told that it did not come in time: over HTTP/1,
    /// when nothing of a response, to this request or the one before it, is on its way.
    pub(crate) fn hears_of_its_stall(&self) -> bool {
        let is_silent = !self.has_response() && !self.task.blocked.get() && !self.interim.is_begun();
        self.task.order() == Order::Timeout && !self.is_stream() && is_silent
    }

    /// A request is answered.
    pub(crate) fn answered(&self, now: Time) {
        self.answered.set(self.answered.get() + 1);
        if self.wants_answer.take() {
            self.task.wake();
        }
        self.table.borrow_mut().answered(self.id, now);
    }

    /// From the end of the response on, which is the last, the connection is this tunnel.
    pub(crate) fn become_tunnel(&self, tunnel: Box<Tunnel>, now: Time) {
        *self.tunnel.borrow_mut() = Some(tunnel);
        self.enter(Phase::Tunnel, now);
    }

    /// Why the request in hand is ended by the gate, if it is.
    pub(crate) fn cause(&self) -> Option<Cause> {
        let is_told = |client: &Self| client.task.order() >= Order::Timeout;
        let is_ended = is_told(self) || self.connection.as_deref().is_some_and(is_told);
        is_ended.then(|| self.table.borrow().cause(self.id)).flatten()
    }

    /// Sends an interim response to the client, once all before it has gone.
    pub(crate) fn inform(&self, interim: Response<()>) {
        self.interim.add(interim, self.is_stream());
        self.task.wake();
    }

    /// Until all interim responses are written: what follows must not overtake them.
    pub(crate) async fn informed(&self) {
        poll_fn(|_| match self.interim.has_unwritten() || self.interim.has_untold() {
            // The task of the connection or stream sends them, and is the one that waits here.
            true => Poll::Pending,
            false => Poll::Ready(()),
        })
        .await;
    }

    pub(crate) fn blocked(&self, blocked: bool) {
        self.task.blocked.set(blocked);
    }

    pub(crate) fn stop(&self, stop: Stop) {
        self.stop.set(Some(stop));
    }

    /// What is wrong with the body of the request in hand.
    pub(crate) fn body_breach(&self) -> Option<Breach> {
        match self.stop.get()? {
            Stop::Body(breach) => Some(breach),
            Stop::Head(..) => None,
        }
    }

    /// What is wrong with the next request, once all before it are answered.
    pub(crate) fn head_breach(&self) -> Option<Breach> {
        match self.stop.get()? {
            Stop::Head(breach, requests) => {
                (self.answered.get() >= requests && !self.task.blocked.get()).then_some(breach)
            }
            Stop::Body(_) => None,
        }
    }

    /// The order that stands; the task is woken when it changes.
    pub(crate) fn poll_order(&self, cx: &mut Context<'_>) -> Order {
        self.task.poll_order(cx)
    }
}
