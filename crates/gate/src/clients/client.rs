//! Client connections: their state, what they cost, and serving them.

use std::cell::{Cell, OnceCell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::task::{Context, Waker};

use http1::request::{Breach, Stop};
use units::{ClassId, Time};

use crate::clients::peer::Peer;
use crate::runtime::notify::keep_waker;
use crate::runtime::stall::Stall;
use crate::tunnel::tunnels::Tunnel;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing has come since it was opened.
    New,
    /// TLS is being agreed on.
    Handshake,
    /// Nothing has come since its last request was answered.
    Idle,
    /// Part of a request's head has come.
    Head,
    /// A request waits or is in service.
    Busy,
    /// Another protocol is spoken with the server, through the gate.
    Tunnel,
    /// Answered for the last time; waiting for the client to close.
    Lingering,
}

impl Phase {
    /// Whether no request has begun to come.
    pub(crate) fn is_idle(self) -> bool {
        matches!(self, Self::New | Self::Idle)
    }
}

/// What the connection's task has been told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Go on.
    Serve,
    /// Finish the request in hand and close.
    Finish,
    /// Say that the request did not arrive in time, and close.
    Timeout,
    /// Close.
    Close,
}

/// Whether a connection can do without what it has for its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calm {
    /// Something is under way.
    No,
    /// Nothing was there when it was read from between two requests.
    Yes,
    /// It has been told to let go of what it can do without.
    Rest,
}

/// One client connection, shared by its task, its requests and the registry; or one stream of a
/// connection of HTTP/2, which has a request of its own to wait for.
#[derive(Debug)]
pub(crate) struct Client {
    /// Of the socket's other end.
    pub(crate) address: IpAddr,
    pub(crate) peer: OnceCell<Peer>,
    /// The connection of a stream.
    pub(crate) connection: Option<Rc<Client>>,
    /// Streams of a connection of HTTP/2.
    pub(crate) streams: Cell<Option<Streams>>,
    pub(crate) phase: Cell<Phase>,
    /// When the phase began.
    pub(crate) since: Cell<Time>,
    /// Since when the client has taken nothing although there was something to send.
    pub(crate) sending: Stall,
    /// Since when the rest of a request's body has been awaited.
    pub(crate) uploading: Stall,
    /// Since when the rest of the server's response has been awaited.
    pub(crate) answering: Stall,
    pub(crate) class: Cell<ClassId>,
    pub(crate) order: Cell<Order>,
    pub(crate) task: RefCell<Option<Waker>>,
    /// Requests answered, but for what has not been sent yet.
    pub(crate) answered: Cell<u64>,
    /// Whether the next answer says how to read on.
    pub(crate) wants_answer: Cell<bool>,
    /// Whether the stream's request has got its response.
    pub(crate) responded: Cell<bool>,
    /// Whether a request has a place in the server.
    pub(crate) placed: Cell<bool>,
    /// Whether the client does not take what there is to send.
    pub(crate) blocked: Cell<bool>,
    /// Whether its buffers are of use.
    pub(crate) calm: Cell<Calm>,
    /// Why nothing more of what it sends is read.
    pub(crate) stop: Cell<Option<Stop>>,
    /// What the connection becomes when its last response has gone.
    pub(crate) tunnel: RefCell<Option<Box<Tunnel>>>,
    /// How many connections of the gate are idle.
    pub(crate) idle: Rc<Cell<usize>>,
}

/// The streams of a connection of HTTP/2.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Streams {
    pub(crate) open: u32,
    /// By how many more requests were taken back than answered.
    pub(crate) taken_back: u32,
    /// When the client was told to ask for nothing more.
    pub(crate) leaving: Option<Time>,
}

impl Client {
    pub(crate) fn new(address: IpAddr, now: Time, idle: Rc<Cell<usize>>) -> Self {
        idle.set(idle.get() + 1);
        Self::with(address, Phase::New, None, now, idle)
    }

    /// A stream of this connection, with a request in hand.
    pub(crate) fn stream(self: &Rc<Self>, now: Time) -> Self {
        self.count(now, |streams| streams.open += 1);
        Self::with(self.address, Phase::Busy, Some(Rc::clone(self)), now, Rc::clone(&self.idle))
    }

    pub(crate) fn with(
        address: IpAddr,
        phase: Phase,
        connection: Option<Rc<Self>>,
        now: Time,
        idle: Rc<Cell<usize>>,
    ) -> Self {
        Self {
            address,
            peer: OnceCell::new(),
            connection,
            streams: Cell::new(None),
            phase: Cell::new(phase),
            since: Cell::new(now),
            sending: Stall::default(),
            uploading: Stall::default(),
            answering: Stall::default(),
            class: Cell::new(ClassId(u8::MAX)),
            order: Cell::new(Order::Serve),
            task: RefCell::new(None),
            answered: Cell::new(0),
            wants_answer: Cell::new(false),
            responded: Cell::new(false),
            placed: Cell::new(false),
            blocked: Cell::new(false),
            calm: Cell::new(Calm::No),
            stop: Cell::new(None),
            tunnel: RefCell::new(None),
            idle,
        }
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
        // It is told once, before any request.
        let _ = self.peer.set(peer);
    }

    /// Whether it is a stream of HTTP/2.
    pub(crate) fn is_stream(&self) -> bool {
        self.connection.is_some()
    }

    /// Whether it is a connection of HTTP/2.
    pub(crate) fn is_multiplexed(&self) -> bool {
        self.streams.get().is_some()
    }

    /// HTTP/2 is spoken: reading bytes says nothing about requests any more.
    pub(crate) fn multiplex(&self) {
        self.streams.set(Some(Streams::default()));
    }

    /// Counts streams; a connection is busy as long as it has one.
    pub(crate) fn count(&self, now: Time, change: impl FnOnce(&mut Streams)) {
        let mut streams = self.streams.get().unwrap_or_default();
        change(&mut streams);
        self.streams.set(Some(streams));
        if self.phase() != Phase::Lingering {
            self.enter(if streams.open > 0 { Phase::Busy } else { Phase::Idle }, now);
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.get()
    }

    pub(crate) fn since(&self) -> Time {
        self.since.get()
    }

    /// Whose connection it is, as far as is known: behind a proxy that does not say so before, the
    /// socket's other end.
    pub(crate) fn owner(&self) -> IpAddr {
        let connection = self.connection.as_deref().unwrap_or(self);
        connection.peer.get().map_or(self.address, |peer| peer.address)
    }

    /// Since when the client has sent nothing of its request, or taken nothing of its response.
    pub(crate) fn kept_waiting_since(&self) -> Option<Time> {
        self.uploading.since().into_iter().chain(self.sending.since()).min()
    }

    /// The class of the last request that was served; of a client without one, below all others.
    pub(crate) fn class(&self) -> ClassId {
        self.class.get()
    }

    pub(crate) fn enter(&self, phase: Phase, now: Time) {
        // A stream has one request.
        let phase = if phase == Phase::Idle && self.is_stream() { Phase::Lingering } else { phase };
        // From a tunnel there is no way back to requests.
        let tunnel = self.phase() == Phase::Tunnel && phase != Phase::Lingering;
        let phase = if tunnel { Phase::Tunnel } else { phase };
        let before = self.phase.replace(phase);
        if before != phase {
            self.since.set(now);
            let idle = self.idle.get() + usize::from(phase.is_idle());
            self.idle.set(idle - usize::from(before.is_idle()));
        }
    }

    /// A request has got a place in the server.
    pub(crate) fn dispatched(&self, class: Option<ClassId>) {
        self.placed.set(true);
        let Some(class) = class else { return };
        self.class.set(class);
        if let Some(connection) = &self.connection {
            connection.class.set(class);
        }
    }

    /// A request is answered.
    pub(crate) fn answered(&self, now: Time) {
        self.answered.set(self.answered.get() + 1);
        self.placed.set(false);
        if self.wants_answer.take()
            && let Some(task) = self.task.take()
        {
            task.wake();
        }
        self.enter(Phase::Idle, now);
    }

    /// From the end of the response on, which is the last, the connection is this tunnel.
    pub(crate) fn become_tunnel(&self, tunnel: Box<Tunnel>, now: Time) {
        *self.tunnel.borrow_mut() = Some(tunnel);
        self.enter(Phase::Tunnel, now);
    }

    pub(crate) fn blocked(&self, blocked: bool) {
        self.blocked.set(blocked);
    }

    /// Whether it can be told to rest.
    pub(crate) fn is_awake(&self) -> bool {
        self.calm.get() == Calm::Yes && self.phase().is_idle() && !self.blocked.get()
    }

    /// Tells the connection's task to let go of what it can do without.
    pub(crate) fn rest(&self) {
        self.calm.set(Calm::Rest);
        if let Some(task) = self.task.take() {
            task.wake();
        }
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
                (self.answered.get() >= requests && !self.blocked.get()).then_some(breach)
            }
            Stop::Body(_) => None,
        }
    }

    /// Tells the connection's task what to do; a harsher order stands.
    pub(crate) fn order(&self, order: Order) {
        if self.order.get() as u8 >= order as u8 {
            return;
        }
        self.order.set(order);
        if let Some(task) = self.task.take() {
            task.wake();
        }
    }

    /// The order that stands; the task is woken when it changes.
    pub(crate) fn poll_order(&self, cx: &mut Context<'_>) -> Order {
        keep_waker(&self.task, cx.waker());
        self.order.get()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.idle.set(self.idle.get() - usize::from(self.phase().is_idle()));
    }
}
