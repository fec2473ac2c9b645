//! [`ThreadContext`]: what all clients of a thread share.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

use record::SessionRow;
use units::Time;

use crate::client::address::Address;
use crate::client::http1::head::Heads;
use crate::client::lookup::Lookup;
use crate::client::plan::{Persistence, Plan};
use crate::client::setup::Setup;
use crate::client::sock_diag::SocketDiagnosis;
use crate::client::tls::Tls;
use crate::engine::reactor::Reactor;
use crate::engine::runtime::Spawner;
use crate::engine::share::Share;
use crate::engine::slot::Responses;
use crate::engine::timers::{Elapsed, Limit};
use crate::measure::finished::Finished;
use crate::measure::progress::Progress;
use crate::measure::recorder::Recorder;
use crate::settings::checks::Checks;

/// The event loop, the way to the server, the plan, and where results go.
pub(crate) struct ThreadContext {
    pub(crate) reactor: Rc<Reactor>,
    pub(crate) spawner: Spawner,
    pub(crate) address: Address,
    pub(crate) tls: Option<Tls>,
    /// Looks the host's name up for each connection; `None` where once is enough.
    pub(crate) lookup: Option<Lookup>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) checks: Checks,
    pub(crate) heads: Heads,
    requests_per_connection: Option<NonZeroU32>,
    /// `None` where the kernel does not offer it.
    pub(crate) diagnosis: Option<SocketDiagnosis>,
    pub(crate) progress: Rc<Progress>,
    pub(crate) recorder: RefCell<Recorder>,
    /// Which thread this is, and of how many.
    pub(crate) share: Share,
    /// Limits that are not in use.
    limits: RefCell<Vec<Rc<Limit>>>,
    next_session: Cell<u64>,
    next_connection: Cell<u64>,
}

impl ThreadContext {
    /// What the clients of the thread that has `share` of the run share.
    pub(crate) fn new(
        setup: &Setup,
        share: Share,
        reactor: Rc<Reactor>,
        spawner: Spawner,
        recorder: Recorder,
    ) -> Self {
        let options = &setup.options;
        Self {
            reactor,
            spawner,
            address: setup.choice.taken.clone(),
            tls: setup.tls.clone(),
            lookup: options.protocol.lookup.then(|| Lookup::new(&options.target)),
            plan: Arc::clone(&setup.plan),
            checks: options.checks.clone(),
            heads: Heads::taking(setup.plan.taken_fields()),
            requests_per_connection: options.protocol.requests_per_connection,
            diagnosis: SocketDiagnosis::open().ok(),
            progress: Rc::new(Progress::new(
                options.window(),
                options.count.map_or(u64::MAX, |most| share.part_of(most)),
            )),
            recorder: RefCell::new(recorder),
            share,
            limits: RefCell::default(),
            next_session: Cell::new(u64::from(share.number)),
            next_connection: Cell::new(u64::from(share.number)),
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.reactor.now()
    }

    /// Sleeps until `time`.
    pub(crate) async fn until(&self, time: Time) {
        self.reactor.timers.until(time).await;
    }

    /// Awaits `work` for as long as a request may take that begins now.
    pub(crate) async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, Elapsed> {
        self.in_time_from(self.now(), work).await
    }

    /// Awaits `work` for as long as a request may take that began at `started`.
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

    /// How many responses a connection will carry.
    pub(crate) fn responses(&self) -> Responses {
        if self.is_last(1) { Responses::One } else { Responses::Many }
    }

    /// Whether a connection's request number `number`, from 1, is its last.
    pub(crate) fn is_last(&self, number: u32) -> bool {
        self.requests_per_connection.is_some_and(|most| number >= most.get())
    }

    /// What becomes of a connection after its request number `number`, from 1.
    pub(crate) fn persistence(&self, number: u32) -> Persistence {
        if self.is_last(number) { Persistence::Close } else { Persistence::Keep }
    }

    pub(crate) fn number_session(&self) -> u64 {
        self.next_session.replace(self.next_session.get() + u64::from(self.share.of))
    }

    pub(crate) fn number_connection(&self) -> u64 {
        self.next_connection.replace(self.next_connection.get() + u64::from(self.share.of))
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
        self.recorder.borrow_mut().began(intended, self.now());
    }

    /// What the schedule wanted at `intended` begins now.
    pub(crate) fn arrived(&self, intended: Time) {
        self.record_lag(intended);
        self.recorder.borrow_mut().arrived(intended, self.now());
    }
}
