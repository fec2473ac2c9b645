//! [`Engine`]: what all clients of a thread share, and when the run is over for it.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

use record::{SessionRow, Window};
use units::Time;

use crate::client::head::Heads;
use crate::client::lookup::Lookup;
use crate::client::plan::Plan;
use crate::client::sock_diag::SocketDiagnosis;
use crate::client::tls::Tls;
use crate::engine::reactor::Reactor;
use crate::engine::runtime::Spawner;
use crate::engine::share::Share;
use crate::engine::timers::{Elapsed, Limit};
use crate::measure::finished::Finished;
use crate::measure::recorder::Recorder;
use crate::run::thread::Common;
use crate::settings::checks::Checks;
use crate::settings::target::Address;

/// Sessions, or requests that stand alone, under way at once in a thread. What the schedule
/// wants beyond waits, and shows as lag: a generator that fell behind must not take all memory
/// to catch up.
const MOST_RUNNING: usize = 100_000;

pub(crate) struct Engine {
    pub(crate) reactor: Rc<Reactor>,
    pub(crate) spawner: Spawner,
    pub(crate) address: Address,
    pub(crate) tls: Option<Tls>,
    /// Looks the host's name up for each connection; `None` where once is enough.
    pub(crate) lookup: Option<Lookup>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) checks: Checks,
    pub(crate) heads: Heads,
    pub(crate) requests_per_connection: Option<NonZeroU32>,
    /// `None` where the kernel does not offer it.
    pub(crate) diagnosis: Option<SocketDiagnosis>,
    pub(crate) window: Window,
    pub(crate) recorder: RefCell<Recorder>,
    /// Which thread this is, and of how many.
    pub(crate) share: Share,
    /// Limits that are not in use.
    limits: RefCell<Vec<Rc<Limit>>>,
    next_session: Cell<u64>,
    next_connection: Cell<u64>,
    running: Cell<usize>,
    /// Of those running, the ones that began in the window.
    unfinished: Cell<u64>,
    /// Whether everything that the schedule wants in the window has begun.
    issued: Cell<bool>,
}

impl Engine {
    /// The engine of the thread that has `share` of the run.
    pub(crate) fn new(
        common: &Common,
        share: Share,
        reactor: Rc<Reactor>,
        spawner: Spawner,
        recorder: Recorder,
    ) -> Self {
        let options = &common.options;
        Self {
            reactor,
            spawner,
            address: common.address.clone(),
            tls: common.tls.clone(),
            lookup: options.protocol.lookup.then(|| Lookup::new(&options.target)),
            plan: Arc::clone(&common.plan),
            checks: options.checks.clone(),
            heads: Heads::default(),
            requests_per_connection: options.protocol.requests_per_connection,
            diagnosis: SocketDiagnosis::open().ok(),
            window: options.window(),
            recorder: RefCell::new(recorder),
            share,
            limits: RefCell::default(),
            next_session: Cell::new(u64::from(share.number)),
            next_connection: Cell::new(u64::from(share.number)),
            running: Cell::new(0),
            unfinished: Cell::new(0),
            issued: Cell::new(false),
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.reactor.now()
    }

    /// Sleeps until `time`.
    pub(crate) async fn until(&self, time: Time) {
        self.reactor.timers.until(time).await;
    }

    /// Awaits `work` for as long as a request may take.
    pub(crate) async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, Elapsed> {
        self.in_time_from(self.now(), work).await
    }

    /// The same where the request began at `started`.
    pub(crate) async fn in_time_from<T>(
        &self,
        started: Time,
        work: impl Future<Output = T>,
    ) -> Result<T, Elapsed> {
        let limit = self.limits.borrow_mut().pop().unwrap_or_default();
        let at = started + self.plan.timeout;
        let result = self.reactor.timers.within(&limit, at, || self.now(), work).await;
        self.limits.borrow_mut().push(limit);
        result
    }

    pub(crate) fn one_request_per_connection(&self) -> bool {
        self.requests_per_connection.is_some_and(|most| most.get() == 1)
    }

    /// Whether a connection's request number `number`, from 1, is its last.
    pub(crate) fn is_last(&self, number: u32) -> bool {
        self.requests_per_connection.is_some_and(|most| number >= most.get())
    }

    pub(crate) fn number_session(&self) -> u64 {
        self.next_session.replace(self.next_session.get() + u64::from(self.share.of))
    }

    pub(crate) fn number_connection(&self) -> u64 {
        self.next_connection.replace(self.next_connection.get() + u64::from(self.share.of))
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
    }

    pub(crate) fn is_issued(&self) -> bool {
        self.issued.get()
    }

    /// Whether all that the schedule wants in the window has begun and ended.
    pub(crate) fn is_settled(&self) -> bool {
        self.issued.get() && self.unfinished.get() == 0
    }

    pub(crate) fn record(&self, finished: &Finished) {
        self.reactor.answered();
        self.recorder.borrow_mut().request(finished);
    }

    pub(crate) fn record_session(&self, class: usize, row: SessionRow) {
        self.recorder.borrow_mut().session(class, row);
    }

    /// Work that was wanted at `intended` begins now; how late that is, is the generator's fault.
    pub(crate) fn record_lag(&self, intended: Time) {
        if self.window.contains(intended) {
            self.recorder.borrow_mut().began(intended, self.now());
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
        engine.unfinished.set(engine.unfinished.get() - u64::from(self.inside));
    }
}
