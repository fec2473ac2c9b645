//! In steady state the policy and its driver allocate nothing.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::VecDeque;

use policy::{
    Admission, Arrival, Config, Decision, Driver, Handler, Kind, KnownSession, Limits, Policy, SessionHint,
    Waits, Window,
};
use units::{ClassId, Ratio, RequestId, SessionId, Span, Time};

/// Requests with their numbers as payload.
struct Overload {
    driver: Driver<u64>,
    decisions: Decisions,
    /// The last thousand that arrived, by their numbers.
    ids: Vec<RequestId>,
}

struct Decisions {
    inside: VecDeque<RequestId>,
    refused: Vec<RequestId>,
}

impl Handler<u64> for Decisions {
    fn classify(&mut self, _: &mut u64) -> ClassId {
        ClassId(1)
    }

    fn decided(&mut self, _: Time, id: RequestId, _: &mut u64, decision: Decision, _: Waits) {
        match decision {
            Decision::Dispatch => self.inside.push_back(id),
            Decision::Refuse(_) => self.refused.push(id),
        }
    }
}

impl Overload {
    fn new(config: Config) -> Self {
        let decisions =
            Decisions { inside: VecDeque::with_capacity(64), refused: Vec::with_capacity(10_000) };
        let driver = Driver::new(Policy::new(config).expect("sound"));
        Self { driver, decisions, ids: vec![RequestId(u64::MAX); 1000] }
    }

    /// Offers three times what the server takes, so that every stage is in use.
    fn run(&mut self, from: u64, requests: u64) {
        let Self { driver, decisions, ids } = self;
        for n in from..from + requests {
            let now = Time::ZERO + Span::from_micros(100) * n;
            let session = match n % 5 {
                0 => SessionHint::Known(KnownSession::active(SessionId(n % 400), ClassId(0))),
                // Some sessions ask for more than others, and some raise themselves.
                1 => SessionHint::Known(KnownSession {
                    is_raised: n % 3 == 0,
                    ..KnownSession::active(SessionId(1000 + n % 7 * (n % 70)), ClassId(u8::from(n % 3 != 0)))
                }),
                _ => SessionHint::New,
            };
            let arrival = Arrival { session, client: n % 300, kind: Kind(n % 2000) };
            ids[n as usize % 1000] = driver.arrive(now, arrival, n, decisions);
            driver.cycle(now, decisions);
            if n % 3 == 0
                && let Some(id) = decisions.inside.pop_front()
            {
                driver.finish(now, id, decisions);
            }
            if n % 97 == 0 {
                driver.abort(now, ids[n as usize % 1000], decisions);
            }
            while let Some(id) = decisions.refused.pop() {
                driver.finish(now, id, decisions);
            }
        }
    }
}

#[test]
fn steady_state_allocates_nothing() {
    check(Admission::Requests);
    check(Admission::Sessions);
}

#[track_caller]
fn check(admission: Admission) {
    let limits = Limits { client_share: Ratio::clamped(0.5), ..Limits::default() };
    let config = Config { limits, window: Window::Fixed(16), admission, ..Config::default() };
    let mut overload = Overload::new(config);
    overload.run(0, 50_000);
    let counted = allocation_counter::measure(|| overload.run(50_000, 200_000));
    assert_eq!(counted.count_total, 0, "{counted:?}");
    let rejected: u64 = overload
        .driver
        .policy()
        .class_snapshots()
        .map(|class| class.counters.rejected.iter().sum::<u64>())
        .sum();
    assert!(rejected > 1000, "the run was to be an overload, but only {rejected} were refused");
}
