//! What holds for the policy whatever happens to it.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::collections::VecDeque;

use common::{Harness, Op, config, ops};
use policy::{
    Arrival, Config, Decision, Driver, Handler, Kind, Knobs, KnownSession, Mode, Policy, Reason, SessionHint,
    Waits, Window,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use units::{ClassId, Ratio, RequestId, SessionId, Span, Time};

proptest! {
    #![proptest_config(ProptestConfig {
        // The seed of a failure is printed, and kept beside this file.
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn bounds_hold_and_every_request_ends_once(config in config(Mode::Enforce), ops in ops(400)) {
        let limits = config.limits;
        let mut harness = Harness::new(config);
        for op in ops {
            harness.apply(op);
            let snapshot = harness.policy().snapshot();
            prop_assert!(snapshot.lengths.acceptor <= limits.acceptor_queue);
            prop_assert!(snapshot.lengths.pending <= 2 * limits.pending_queue);
            prop_assert!(snapshot.lengths.discard <= limits.discard_queues);
            prop_assert!(snapshot.lengths.class <= limits.class_queues);
            prop_assert!(snapshot.in_service <= most_inside(harness.policy().config()));
            prop_assert_eq!(with_server(harness.policy()), harness.books.inside.len());
            prop_assert_eq!(all_held(harness.policy()), harness.books.waiting.len() + harness.books.inside.len());
        }
        prop_assert!(harness.books.faults.is_empty(), "{:?}", harness.books.faults);
        let deadlines = limits.deadlines;
        let patience = deadlines.acceptor + deadlines.pending + deadlines.discard + deadlines.class;
        prop_assert!(harness.books.longest_wait <= patience, "{} > {}", harness.books.longest_wait, patience);
    }

    #[test]
    fn the_important_are_not_refused_while_others_wait(config in config(Mode::Enforce), ops in ops(400)) {
        // One request a cycle: what is seen after each input is then what the decision saw.
        let limits = policy::Limits { burst: 1, ..config.limits };
        let mut harness = Harness::new(Config { limits, ..config });
        for op in ops {
            harness.apply(op);
            let differentiates = harness.policy().config().knobs.differentiation > Ratio::ZERO;
            for (class, reason) in std::mem::take(&mut harness.books.refused) {
                let Some(class) = class.filter(|_| differentiates) else { continue };
                let below: Vec<_> = harness.policy().class_snapshots().filter(|other| other.class > class).collect();
                let held_back = below.iter().map(|other| other.held_back).sum::<u32>();
                let queued = below.iter().map(|other| other.queued).sum::<u32>();
                match reason {
                    Reason::Admission | Reason::QueueFull => prop_assert_eq!((held_back, queued), (0, 0)),
                    // The newest of the least important in the stage where the place was needed.
                    Reason::Displaced => prop_assert!(held_back == 0 || queued == 0),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_full_drain_ends(config in config(Mode::Enforce), ops in ops(300)) {
        let mut harness = Harness::new(config);
        ops.into_iter().for_each(|op| harness.apply(op));
        harness.drain();
        prop_assert_eq!(harness.policy().held(), 0);
        prop_assert!(harness.books.faults.is_empty(), "{:?}", harness.books.faults);
    }

    #[test]
    fn shadow_mode_lets_everything_through(config in config(Mode::Shadow), ops in ops(300)) {
        let mut harness = Harness::new(config);
        for op in ops {
            harness.apply(op);
            prop_assert!(harness.books.refused.is_empty());
            prop_assert!(harness.books.waiting.is_empty(), "dispatched as they arrive");
        }
        harness.drain();
        prop_assert_eq!(harness.policy().held(), 0);
        prop_assert!(harness.books.faults.is_empty(), "{:?}", harness.books.faults);
    }

    #[test]
    fn the_same_inputs_give_the_same_outputs(config in config(Mode::Enforce), ops in ops(200)) {
        let run = || {
            let mut harness = Harness::new(config.clone());
            ops.iter().for_each(|op| harness.apply(op.clone()));
            harness.books.log
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn another_configuration_loses_nothing(
        (before, after) in before_and_after(),
        first in ops(200),
        then in ops(200),
    ) {
        let enforced = before.mode == Mode::Enforce;
        let mut harness = Harness::new(before);
        first.into_iter().for_each(|op| harness.apply(op));
        let (held, refused) = (all_held(harness.policy()), harness.books.refused.len());
        harness.reconfigure(after.clone());
        prop_assert_eq!((all_held(harness.policy()), harness.books.refused.len()), (held, refused));
        prop_assert_eq!(harness.policy().config(), &after);
        // What shadow mode let through without room to follow it is not held.
        let exact = enforced && after.mode == Mode::Enforce;
        match after.mode {
            Mode::Shadow => prop_assert!(harness.books.waiting.is_empty(), "who waited was let through"),
            Mode::Enforce if enforced => {
                prop_assert_eq!(with_server(harness.policy()), harness.books.inside.len());
            }
            Mode::Enforce => prop_assert_eq!(with_server(harness.policy()), held),
        }
        for op in then {
            harness.apply(op);
            prop_assert!(!exact || all_held(harness.policy()) == harness.books.waiting.len() + harness.books.inside.len());
        }
        harness.drain();
        prop_assert_eq!(harness.policy().held(), 0);
        prop_assert!(harness.books.faults.is_empty(), "{:?}", harness.books.faults);
        prop_assert!(!exact || harness.policy().snapshot().unknown_ids == 0);
    }

    #[test]
    fn moving_a_knob_loses_nothing(config in config(Mode::Enforce), ops in ops(200), to in (0.0..=1.0f64, 0.0..=1.0f64)) {
        let mut harness = Harness::new(config);
        ops.into_iter().for_each(|op| harness.apply(op));
        let before = (harness.policy().held(), harness.books.refused.len());
        harness.apply(Op::Knobs(to.0, to.1));
        prop_assert_eq!((harness.policy().held(), harness.books.refused.len()), before);
    }
}

/// Two configurations with the same classes, each enforcing or not.
fn before_and_after() -> impl Strategy<Value = (Config, Config)> {
    let any_mode =
        || any::<bool>().prop_flat_map(|enforce| config(if enforce { Mode::Enforce } else { Mode::Shadow }));
    (any_mode(), any_mode()).prop_map(|(before, mut after)| {
        after.classes.clone_from(&before.classes);
        (before, after)
    })
}

/// Most requests that may ever be inside the server: the largest window, and the express places
/// on top of it at full differentiation.
/// Requests that the server has, with a place or without.
fn with_server(policy: &Policy) -> usize {
    let snapshot = policy.snapshot();
    (snapshot.in_service + snapshot.streaming) as usize
}

fn all_held(policy: &Policy) -> usize {
    policy.held() + policy.snapshot().streaming as usize
}

fn most_inside(config: &Config) -> u32 {
    let (Window::Fixed(size) | Window::Adaptive { max: size, .. }) = config.window;
    size + size.isqrt() + 1
}

/// Requests inside the server; all classes are known.
#[derive(Default)]
struct Inside(VecDeque<RequestId>);

impl Handler<()> for Inside {
    fn classify(&mut self, (): &mut ()) -> ClassId {
        ClassId(1)
    }

    fn decided(&mut self, _: Time, id: RequestId, (): &mut (), decision: Decision, _: Waits) {
        if decision == Decision::Dispatch {
            self.0.push_back(id);
        }
    }
}

/// Both classes always wait; how many of each are dispatched?
#[track_caller]
fn check_weights(differentiation: f64, window: u32, expected: std::ops::RangeInclusive<u64>) {
    let knobs = Knobs { differentiation: Ratio::clamped(differentiation), favour: Ratio::ONE };
    let mut config = Config { knobs, window: Window::Fixed(window), ..Config::default() };
    for class in &mut config.classes {
        class.target_queue = Some(500);
    }
    let mut driver = Driver::new(Policy::new(config).expect("sound"));
    let (mut now, mut next, mut inside) = (Time::ZERO, 0, Inside::default());
    for _ in 0..30_000 {
        now += Span::from_millis(1);
        for class in [ClassId(0), ClassId(1)] {
            next += 1;
            let session = KnownSession::active(SessionId(next), class);
            let arrival =
                Arrival { session: SessionHint::Known(session), client: next, kind: Kind::default() };
            driver.arrive(now, arrival, (), &mut inside);
        }
        driver.cycle(now, &mut inside);
        driver.cycle(now, &mut inside);
        if let Some(id) = inside.0.pop_front() {
            driver.finish(now, id, &mut inside);
        }
    }
    let counts: Vec<u64> = driver.policy().class_snapshots().map(|class| class.counters.dispatched).collect();
    let share = 1000 * counts[1] / (counts[0] + counts[1]);
    assert!(expected.contains(&share), "{counts:?}: {share} per mille of the least important");
}

#[test]
fn weights_are_honoured_within_a_bound() {
    check_weights(0.0, 4, 480..=520);
    check_weights(0.5, 4, 310..=355);
    check_weights(0.9, 4, 75..=105);
    check_weights(0.9, 1, 75..=105);
    check_weights(1.0, 4, 0..=20);
}
