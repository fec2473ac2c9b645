//! What one request costs the policy while 10,000 wait.
//!
//! One iteration is a whole request: arrival, cycle, classification, admission, dispatch,
//! finish. The queue is kept at its length: as many leave as join.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use policy::{Config, Input, Kind, Limits, Output, Policy, SessionHint, Window};
use units::{ClassId, Ratio, RequestId, Span, Time};

const QUEUED: u64 = 10_000;

struct Driver {
    policy: Policy,
    now: Time,
    next: u64,
    inside: std::collections::VecDeque<RequestId>,
}

impl Driver {
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
        Self { policy, now: Time::ZERO, next: 0, inside: std::collections::VecDeque::with_capacity(128) }
    }

    /// One request comes: every fifth of a premium session, the others new.
    fn arrive(&mut self) {
        let id = RequestId(self.next);
        let session = match self.next % 5 {
            0 => SessionHint::Known(ClassId(0)),
            1 | 2 => SessionHint::Known(ClassId(1)),
            _ => SessionHint::New,
        };
        self.next += 1;
        self.now += Span::from_micros(20);
        self.policy
            .handle(self.now, Input::Arrived { id, session, client: id.0 % 1000, kind: Kind(id.0 % 50) });
        self.policy.handle(self.now, Input::Cycle);
        while let Some(output) = self.policy.poll() {
            match output {
                Output::Classify(id) => {
                    self.policy.handle(self.now, Input::Classified { id, class: ClassId(1) });
                }
                Output::Dispatch(id) => self.inside.push_back(id),
                Output::Reject(..) => {}
            }
        }
    }

    /// One request leaves.
    fn finish(&mut self) {
        if let Some(id) = self.inside.pop_front() {
            self.policy.handle(self.now, Input::Finished { id });
        }
    }
}

fn per_request(criterion: &mut Criterion) {
    let mut driver = Driver::new();
    while (driver.policy.held() as u64) < QUEUED {
        driver.arrive();
    }
    let mut group = criterion.benchmark_group("policy");
    group.throughput(Throughput::Elements(1));
    group.bench_function("request at 10,000 queued", |bencher| {
        bencher.iter(|| {
            driver.arrive();
            driver.finish();
            black_box(&driver.policy);
        });
    });
    group.finish();
    let held = driver.policy.held() as u64;
    assert!(held >= QUEUED, "the queue ran down to {held}: the figure is not for {QUEUED} queued");
}

criterion_group!(benches, per_request);
criterion_main!(benches);
