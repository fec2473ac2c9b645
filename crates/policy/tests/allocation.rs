//! In steady state the policy allocates nothing.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::VecDeque;

use policy::{Config, Input, Kind, Limits, Output, Policy, SessionHint, Window};
use units::{ClassId, Ratio, RequestId, Span, Time};

/// Offers three times what the server takes, so that every stage is in use.
fn run(policy: &mut Policy, inside: &mut VecDeque<RequestId>, from: u64, requests: u64) {
    for n in from..from + requests {
        let now = Time::ZERO + Span::from_micros(100) * n;
        let session = match n % 5 {
            0 => SessionHint::Known(ClassId(0)),
            1 => SessionHint::Known(ClassId(1)),
            _ => SessionHint::New,
        };
        policy
            .handle(now, Input::Arrived { id: RequestId(n), session, client: n % 300, kind: Kind(n % 2000) });
        policy.handle(now, Input::Cycle);
        while let Some(output) = policy.poll() {
            match output {
                Output::Classify(id) => policy.handle(now, Input::Classified { id, class: ClassId(1) }),
                Output::Dispatch(id) => inside.push_back(id),
                Output::Reject(..) => {}
            }
        }
        if n % 3 == 0
            && let Some(id) = inside.pop_front()
        {
            policy.handle(now, Input::Finished { id });
        }
        if n % 97 == 0 {
            policy.handle(now, Input::Aborted { id: RequestId(n) });
        }
    }
}

#[test]
fn steady_state_allocates_nothing() {
    let limits = Limits { client_share: Ratio::clamped(0.5), ..Limits::default() };
    let config = Config { limits, window: Window::Fixed(16), ..Config::default() };
    let mut policy = Policy::new(config).expect("sound");
    let mut inside = VecDeque::with_capacity(64);
    run(&mut policy, &mut inside, 0, 50_000);
    let counted = allocation_counter::measure(|| run(&mut policy, &mut inside, 50_000, 200_000));
    assert_eq!(counted.count_total, 0, "{counted:?}");
    let rejected: u64 =
        policy.class_snapshots().map(|class| class.counters.rejected.iter().sum::<u64>()).sum();
    assert!(rejected > 1000, "the run was to be an overload, but only {rejected} were refused");
}
