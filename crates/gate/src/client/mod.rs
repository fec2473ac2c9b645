//! Client connections: their state, what they cost, and serving them.

mod io;
mod registry;
mod serve;

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::task::{Context, Waker};

use units::Time;

use crate::bell::keep_waker;

pub(crate) use registry::Registry;
pub(crate) use serve::serve;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing has come since it was opened.
    New,
    /// Nothing has come since its last request was answered.
    Idle,
    /// Part of a request's head has come.
    Head,
    /// A request waits or is in service.
    Busy,
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

/// One client connection, shared by its task, its requests and the registry.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    phase: Cell<Phase>,
    /// When the phase began.
    since: Cell<Time>,
    /// Since when the client has taken nothing although there was something to send.
    pub(crate) sending: Stall,
    /// Since when the rest of a request's body has been awaited.
    pub(crate) uploading: Stall,
    /// Since when the rest of the server's response has been awaited.
    pub(crate) answering: Stall,
    order: Cell<Order>,
    task: RefCell<Option<Waker>>,
    /// How many connections of the gate are idle.
    idle: Rc<Cell<usize>>,
}

/// Since when somebody has been waited for, if at all.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    since: Cell<Option<Time>>,
    moved: Cell<usize>,
}

impl Stall {
    /// A client that sends or takes a byte now and then is as good as one that does nothing, and
    /// holds a place as long. This much has to move before the waiting counts as over.
    const ENOUGH: usize = 4096;

    /// Still nothing.
    pub(crate) fn waits(&self, now: Time) {
        if self.since.get().is_none() {
            self.since.set(Some(now));
            self.moved.set(0);
        }
    }

    /// So many bytes moved.
    pub(crate) fn moved(&self, bytes: usize) {
        if self.since.get().is_some() {
            let moved = self.moved.get().saturating_add(bytes);
            self.moved.set(moved);
            if moved >= Self::ENOUGH {
                self.over();
            }
        }
    }

    /// Nothing is awaited any more.
    pub(crate) fn over(&self) {
        self.since.set(None);
    }

    pub(crate) fn longer_than(&self, now: Time, longest: units::Span) -> bool {
        self.since.get().is_some_and(|since| now.since(since) > longest)
    }
}

impl Client {
    pub(crate) fn new(address: IpAddr, now: Time, idle: Rc<Cell<usize>>) -> Self {
        idle.set(idle.get() + 1);
        Self {
            address,
            phase: Cell::new(Phase::New),
            since: Cell::new(now),
            sending: Stall::default(),
            uploading: Stall::default(),
            answering: Stall::default(),
            order: Cell::new(Order::Serve),
            task: RefCell::new(None),
            idle,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.get()
    }

    pub(crate) fn since(&self) -> Time {
        self.since.get()
    }

    pub(crate) fn enter(&self, phase: Phase, now: Time) {
        let before = self.phase.replace(phase);
        if before != phase {
            self.since.set(now);
            let idle = self.idle.get() + usize::from(phase.is_idle());
            self.idle.set(idle - usize::from(before.is_idle()));
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
    fn poll_order(&self, cx: &mut Context<'_>) -> Order {
        keep_waker(&self.task, cx.waker());
        self.order.get()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.idle.set(self.idle.get() - usize::from(self.phase().is_idle()));
    }
}
