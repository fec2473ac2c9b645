//! What one request costs the policy while 10,000 wait.
//!
//! One iteration is a whole request: arrival, cycle, classification, admission, dispatch,
//! finish. The queue is kept at its length: as many leave as join.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::collections::VecDeque;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use policy::{
    Arrival, Config, Decision, Driver, Handler, Kind, KnownSession, Limits, Policy, SessionHint, Waits,
    Window,
};
use units::{ClassId, Ratio, RequestId, SessionId, Span, Time};

const QUEUED: u64 = 10_000;

struct Overload {
    driver: Driver<()>,
    now: Time,
    next: u64,
    decisions: Decisions,
}

/// New sessions are of the class that matters less.
struct Decisions {
    inside: VecDeque<RequestId>,
    refused: Vec<RequestId>,
}

impl Handler<()> for Decisions {
    fn classify(&mut self, (): &mut ()) -> ClassId {
        ClassId(1)
    }

    fn decided(&mut self, _: Time, id: RequestId, (): &mut (), decision: Decision, _: Waits) {
        match decision {
            Decision::Dispatch => self.inside.push_back(id),
            Decision::Refuse(_) => self.refused.push(id),
        }
    }
}

impl Overload {
    fn new() -> Self {
        let limits = Limits {
            acceptor_queue: 20_000,
            pending_queue: 20_000,
            class_queues: 40_000,
            discard_queues: 10_000,
            client_share: Ratio::clamped(0.9),
            deadlines: policy::Deadlines::all(Span::from_secs(3600)),
            ..Limits::default()
        };
        let mut classes = Config::default().classes;
        for class in &mut classes {
            class.target_queue = Some(20_000);
        }
        let config = Config { limits, classes, window: Window::Fixed(64), ..Config::default() };
        let policy = Policy::new(config).expect("the configuration is sound");
        let decisions =
            Decisions { inside: VecDeque::with_capacity(128), refused: Vec::with_capacity(20_000) };
        Self { driver: Driver::new(policy), now: Time::ZERO, next: 0, decisions }
    }

    /// One request comes: every fifth of a premium session, the others new.
    fn arrive(&mut self) {
        let number = self.next;
        let known =
            |class| SessionHint::Known(KnownSession::active(SessionId(number % 3000), ClassId(class)));
        let session = match number % 5 {
            0 => known(0),
            1 | 2 => known(1),
            _ => SessionHint::New,
        };
        self.next += 1;
        self.now += Span::from_micros(20);
        let arrival = Arrival { session, client: number % 1000, kind: Kind(number % 50) };
        self.driver.arrive(self.now, arrival, (), &mut self.decisions);
        self.driver.cycle(self.now, &mut self.decisions);
        while let Some(id) = self.decisions.refused.pop() {
            self.driver.finish(self.now, id, &mut self.decisions);
        }
    }

    /// One request leaves.
    fn finish(&mut self) {
        if let Some(id) = self.decisions.inside.pop_front() {
            self.driver.finish(self.now, id, &mut self.decisions);
        }
    }

    fn held(&self) -> u64 {
        self.driver.policy().held() as u64
    }
}

fn per_request(criterion: &mut Criterion) {
    let mut overload = Overload::new();
    while overload.held() < QUEUED {
        overload.arrive();
    }
    let mut group = criterion.benchmark_group("policy");
    group.throughput(Throughput::Elements(1));
    group.bench_function("request at 10,000 queued", |bencher| {
        bencher.iter(|| {
            overload.arrive();
            overload.finish();
            black_box(&overload.driver);
        });
    });
    group.finish();
    let held = overload.held();
    assert!(held >= QUEUED, "the queue ran down to {held}: the figure is not for {QUEUED} queued");
}

criterion_group!(benches, per_request);
criterion_main!(benches);
