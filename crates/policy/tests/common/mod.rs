//! A harness that does to the policy what a server and its clients might, and keeps the books.

use std::collections::BTreeMap;

use policy::{
    Admission, Arrival, Class, Config, Deadlines, Decision, Driver, Handler, Kind, Knobs, KnownSession,
    Limits, LookAhead, Mode, Policy, Reason, SessionHint, Waits, Window,
};
use proptest::prelude::*;
use units::{ClassId, Ratio, RequestId, SessionId, Span, Time};

/// Something that may happen.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Arrive { class: u8, known: bool, client: u64 },
    Cycle,
    Wait(u64),
    Finish(usize),
    Abort(usize),
    Knobs(f64, f64),
    Pressure(f64),
    Capacity(f64),
}

pub(crate) fn ops(most: usize) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => (0..5u8, any::<bool>(), 0..6u64).prop_map(|(class, known, client)| Op::Arrive { class, known, client }),
        4 => Just(Op::Cycle),
        3 => (0..400u64).prop_map(Op::Wait),
        4 => any::<usize>().prop_map(Op::Finish),
        1 => any::<usize>().prop_map(Op::Abort),
        1 => (0.0..=1.0f64, 0.0..=1.0f64).prop_map(|(d, f)| Op::Knobs(d, f)),
        1 => (0.0..=1.0f64).prop_map(Op::Pressure),
        1 => (0.0..=1.0f64).prop_map(Op::Capacity),
    ];
    prop::collection::vec(op, 1..most)
}

pub(crate) fn config(mode: Mode) -> impl Strategy<Value = Config> {
    let window = prop_oneof![
        (1..5u32).prop_map(Window::Fixed),
        (1..4u32, 0..4u32, 0..8u32).prop_map(|(min, above, more)| Window::Adaptive {
            initial: min + above,
            min,
            max: min + above + more
        }),
    ];
    let look_ahead = prop_oneof![Just(LookAhead::Auto), (1..20u32).prop_map(LookAhead::Fixed)];
    let bounds = (1..8u32, 1..12u32, 1..8u32, 1..12u32, 0..8u32, 0..4u32);
    let differentiation = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0f64];
    let admission = prop_oneof![Just(Admission::Requests), Just(Admission::Sessions)];
    let rest = (0.1..=1.0f64, 50..3000u64, differentiation, 0.0..=1.0f64, any::<u64>(), admission);
    (1..=4usize, window, look_ahead, bounds, rest).prop_map(
        move |(classes, window, look_ahead, bounds, rest)| {
            let (burst, acceptor_queue, pending_queue, class_queues, discard_queues, discard_periods) =
                bounds;
            let (client_share, deadline, differentiation, favour, seed, admission) = rest;
            Config {
                classes: vec![Class::default(); classes],
                mode,
                admission,
                knobs: Knobs {
                    differentiation: Ratio::clamped(differentiation),
                    favour: Ratio::clamped(favour),
                },
                look_ahead,
                window,
                limits: Limits {
                    burst,
                    acceptor_queue,
                    pending_queue,
                    class_queues,
                    discard_queues,
                    discard_periods,
                    streaming: 64,
                    deadlines: Deadlines::all(Span::from_millis(deadline)),
                    client_share: Ratio::clamped(client_share),
                    ..Limits::default()
                },
                seed,
                ..Config::default()
            }
        },
    )
}

/// Requests as those who keep the books know them.
pub(crate) struct Request {
    number: u64,
    class: ClassId,
    /// Whether the policy knows the class.
    is_classified: bool,
    arrived: Time,
    /// Whether its client is there.
    is_aborted: bool,
}

pub(crate) struct Harness {
    driver: Driver<Request>,
    pub(crate) now: Time,
    next: u64,
    capacity: Ratio,
    pub(crate) books: Books,
}

#[derive(Default)]
pub(crate) struct Books {
    /// Requests that wait, by number.
    pub(crate) waiting: BTreeMap<u64, RequestId>,
    pub(crate) inside: Vec<RequestId>,
    /// Refusals since they were last taken out, with the class where the policy knew it.
    pub(crate) refused: Vec<(Option<ClassId>, Reason)>,
    /// Those whose clients have been told, but for the driver's part of it.
    told: Vec<RequestId>,
    /// Decisions about requests that had none coming.
    pub(crate) faults: Vec<(u64, Option<Decision>)>,
    pub(crate) log: Vec<(Time, u64, Option<Decision>)>,
    pub(crate) longest_wait: Span,
    now: Time,
    /// The request that arrives just now: its id is not known yet.
    arriving: Option<u64>,
}

impl Handler<Request> for Books {
    fn classify(&mut self, request: &mut Request) -> ClassId {
        self.log.push((self.now, request.number, None));
        if request.is_classified || request.is_aborted {
            self.faults.push((request.number, None));
        }
        request.is_classified = true;
        request.class
    }

    fn decided(&mut self, now: Time, id: RequestId, request: &mut Request, decision: Decision, _: Waits) {
        self.log.push((now, request.number, Some(decision)));
        let waited = self.arriving.take_if(|number| *number == request.number).is_some()
            || self.waiting.remove(&request.number).is_some();
        if !waited || request.is_aborted {
            self.faults.push((request.number, Some(decision)));
        }
        match decision {
            Decision::Dispatch => {
                self.inside.push(id);
                self.longest_wait = self.longest_wait.max(now.since(request.arrived));
            }
            Decision::Refuse(reason) => {
                self.refused.push((request.is_classified.then_some(request.class), reason));
                self.told.push(id);
            }
        }
    }
}

impl Harness {
    pub(crate) fn new(config: Config) -> Self {
        let policy = Policy::new(config).expect("the strategy makes sound configurations");
        Self {
            driver: Driver::new(policy),
            now: Time::from_nanos(1),
            next: 0,
            capacity: Ratio::ONE,
            books: Books::default(),
        }
    }

    pub(crate) fn policy(&self) -> &Policy {
        self.driver.policy()
    }

    pub(crate) fn apply(&mut self, op: Op) {
        self.books.now = self.now;
        match op {
            Op::Arrive { class, known, client } => self.arrive(class, known, client),
            Op::Cycle => self.driver.cycle(self.now, &mut self.books),
            Op::Wait(millis) => {
                self.now += Span::from_millis(millis);
                self.books.now = self.now;
                // Time passes; all of the server is there, as before.
                self.driver.set_capacity(self.now, self.capacity, &mut self.books);
            }
            Op::Finish(n) if !self.books.inside.is_empty() => {
                let id = self.books.inside.swap_remove(n % self.books.inside.len());
                self.driver.finish(self.now, id, &mut self.books);
            }
            Op::Abort(n) => self.abort(n),
            Op::Knobs(differentiation, favour) => {
                let knobs = Knobs {
                    differentiation: Ratio::clamped(differentiation),
                    favour: Ratio::clamped(favour),
                };
                self.driver.set_knobs(self.now, knobs, &mut self.books);
            }
            Op::Pressure(used) => {
                self.driver.set_pressure(self.now, Ratio::clamped(used), &mut self.books);
            }
            Op::Capacity(share) => {
                self.capacity = Ratio::clamped(share);
                self.driver.set_capacity(self.now, self.capacity, &mut self.books);
            }
            Op::Finish(_) => {}
        }
        self.tell_refused();
    }

    /// Lets everything that is held end: nothing arrives, the server goes on.
    pub(crate) fn drain(&mut self) {
        self.driver.set_pressure(self.now, Ratio::ZERO, &mut self.books);
        for _ in 0..100_000 {
            self.tell_refused();
            if self.policy().held() == 0 {
                return;
            }
            let wake = self.driver.next_wake(self.now);
            if wake != Time::NEVER {
                self.now = self.now.max(wake);
                self.books.now = self.now;
            }
            self.driver.cycle(self.now, &mut self.books);
            if let Some(id) = self.books.inside.pop() {
                self.driver.finish(self.now, id, &mut self.books);
            }
        }
    }

    fn arrive(&mut self, class: u8, known: bool, client: u64) {
        let class = ClassId(class.min(self.policy().config().classes.len() as u8 - 1));
        let number = self.next;
        self.next += 1;
        let session = KnownSession::active(SessionId(number), class);
        let session = if known { SessionHint::Known(session) } else { SessionHint::New };
        let arrival = Arrival { session, client, kind: Kind(number % 5) };
        let request = Request { number, class, is_classified: known, arrived: self.now, is_aborted: false };
        self.books.arriving = Some(number);
        let id = self.driver.arrive(self.now, arrival, request, &mut self.books);
        if self.books.arriving.take().is_some() {
            self.books.waiting.insert(number, id);
        }
    }

    /// A client leaves: one that waits is forgotten, one that is served keeps its place.
    fn abort(&mut self, n: usize) {
        let mut ids: Vec<RequestId> =
            self.books.waiting.values().chain(&self.books.inside).copied().collect();
        ids.sort();
        if ids.is_empty() {
            return;
        }
        let id = ids[n % ids.len()];
        if let Some(request) = self.driver.get_mut(id) {
            request.is_aborted = self.books.waiting.remove(&request.number).is_some();
        }
        self.driver.abort(self.now, id, &mut self.books);
    }

    /// Another configuration, which must have as many classes.
    pub(crate) fn reconfigure(&mut self, config: Config) {
        self.driver.reconfigure(self.now, config, &mut self.books).expect("sound, and as many classes");
        self.tell_refused();
    }

    fn tell_refused(&mut self) {
        while let Some(id) = self.books.told.pop() {
            self.driver.finish(self.now, id, &mut self.books);
        }
    }
}
