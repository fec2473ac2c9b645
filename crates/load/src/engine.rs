//! [`Engine`]: what all clients of a run share, and when the run is over.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::rc::Rc;

use record::{RequestRow, SessionRow, Window};
use tokio::sync::Notify;
use units::Time;

use crate::alarms::Alarms;
use crate::clock::Clock;
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::sock_diag::SocketDiagnosis;

/// Sessions, or requests that stand alone, under way at once. What the schedule wants beyond
/// waits, and shows as lag: a generator that fell behind must not take all memory to catch up.
const MOST_RUNNING: usize = 100_000;

/// Everything arrives here in blocks of this size; bodies are counted and forgotten.
const RECEIVE_BUFFER: usize = 64 * 1024;

pub(crate) struct Engine {
    pub(crate) clock: Clock,
    pub(crate) alarms: Alarms,
    pub(crate) address: SocketAddr,
    pub(crate) plan: Plan,
    pub(crate) requests_per_connection: Option<NonZeroU32>,
    /// `None` where the kernel does not offer it.
    pub(crate) diagnosis: Option<SocketDiagnosis>,
    pub(crate) window: Window,
    pub(crate) recorder: RefCell<Recorder>,
    /// One for all connections: between two polls nothing stays in it.
    pub(crate) received: RefCell<Box<[u8]>>,
    /// The same for requests on their way out.
    pub(crate) composed: RefCell<Vec<u8>>,
    next_session: Cell<u64>,
    next_connection: Cell<u64>,
    running: Cell<usize>,
    /// Of those running, the ones that began in the window.
    unfinished: Cell<u64>,
    /// Whether everything that the schedule wants in the window has begun.
    issued: Cell<bool>,
    /// Rings when the run may be over.
    progress: Notify,
}

impl Engine {
    pub(crate) fn new(
        clock: Clock,
        alarms: Alarms,
        address: SocketAddr,
        plan: Plan,
        requests_per_connection: Option<NonZeroU32>,
        window: Window,
        recorder: Recorder,
    ) -> Self {
        Self {
            clock,
            alarms,
            address,
            plan,
            requests_per_connection,
            diagnosis: SocketDiagnosis::open().ok(),
            window,
            recorder: RefCell::new(recorder),
            received: RefCell::new(vec![0; RECEIVE_BUFFER].into_boxed_slice()),
            composed: RefCell::default(),
            next_session: Cell::new(0),
            next_connection: Cell::new(0),
            running: Cell::new(0),
            unfinished: Cell::new(0),
            issued: Cell::new(false),
            progress: Notify::new(),
        }
    }

    pub(crate) fn number_session(&self) -> u64 {
        self.next_session.replace(self.next_session.get() + 1)
    }

    pub(crate) fn number_connection(&self) -> u64 {
        self.next_connection.replace(self.next_connection.get() + 1)
    }

    pub(crate) fn running(&self) -> usize {
        self.running.get()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.running.get() >= MOST_RUNNING
    }

    /// Counts something that the schedule wanted at `intended`, as long as the guard lives.
    pub(crate) fn follow(self: &Rc<Self>, intended: Time) -> Followed {
        self.running.set(self.running.get() + 1);
        let inside = self.window.contains(intended);
        self.unfinished.set(self.unfinished.get() + u64::from(inside));
        Followed { engine: Rc::clone(self), inside }
    }

    /// Everything that the schedule wants in the window has begun.
    pub(crate) fn set_issued(&self) {
        self.issued.set(true);
        self.progress.notify_one();
    }

    pub(crate) fn is_issued(&self) -> bool {
        self.issued.get()
    }

    /// Waits until all that the schedule wants in the window has begun and ended.
    pub(crate) async fn settled(&self) {
        while !(self.issued.get() && self.unfinished.get() == 0) {
            self.progress.notified().await;
        }
    }

    pub(crate) fn record_request(&self, row: RequestRow) {
        self.recorder.borrow_mut().request(row);
    }

    pub(crate) fn record_session(&self, row: SessionRow) {
        self.recorder.borrow_mut().session(row);
    }

    /// Work that was wanted at `intended` begins now; how late that is, is the generator's fault.
    pub(crate) fn record_lag(&self, intended: Time) {
        if self.window.contains(intended) {
            self.recorder.borrow_mut().lag(self.clock.now().since(intended));
        }
    }
}

/// Something under way.
pub(crate) struct Followed {
    engine: Rc<Engine>,
    inside: bool,
}

impl Drop for Followed {
    fn drop(&mut self) {
        let engine = &self.engine;
        engine.running.set(engine.running.get() - 1);
        if self.inside {
            engine.unfinished.set(engine.unfinished.get() - 1);
            if engine.unfinished.get() == 0 {
                engine.progress.notify_one();
            }
        }
    }
}
