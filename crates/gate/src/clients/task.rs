//! [`Task`]: what the task of a client's connection, or of a stream, is told.

use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};

use policy::connections::{Connections, Order};

use crate::runtime::notify::keep_waker;

/// All connections and streams, with the tasks that carry out what is decided about them.
pub(crate) type Table = RefCell<Connections<std::rc::Rc<Task>>>;

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

/// What the task of a connection or of a stream is told.
#[derive(Debug)]
pub(crate) struct Task {
    order: Cell<Order>,
    waker: RefCell<Option<Waker>>,
    /// Whether the client does not take what there is to send.
    pub(crate) blocked: Cell<bool>,
    /// Whether its buffers are of use.
    pub(crate) calm: Cell<Calm>,
}

impl Task {
    pub(crate) fn new() -> Self {
        Self {
            order: Cell::new(Order::Serve),
            waker: RefCell::new(None),
            blocked: Cell::new(false),
            calm: Cell::new(Calm::No),
        }
    }

    /// Tells the task what to do; a harsher order stands.
    pub(crate) fn tell(&self, order: Order) {
        if self.order.get() < order {
            self.order.set(order);
            self.wake();
        }
    }

    /// The order that stands.
    pub(crate) fn order(&self) -> Order {
        self.order.get()
    }

    /// The order that stands; the task is woken when it changes.
    pub(crate) fn poll_order(&self, cx: &mut Context<'_>) -> Order {
        keep_waker(&self.waker, cx.waker());
        self.order.get()
    }

    /// Whether it can be told to rest while no request is under way.
    pub(crate) fn is_awake(&self) -> bool {
        self.calm.get() == Calm::Yes && !self.blocked.get()
    }

    /// Tells the task to let go of what it can do without.
    pub(crate) fn rest(&self) {
        self.calm.set(Calm::Rest);
        self.wake();
    }

    pub(crate) fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
