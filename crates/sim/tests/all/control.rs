//! Simulations that somebody waits for, and ends early.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use sim::{Control, Model, Outcome, Plan, Precision, run, run_under};

const PLAN: Plan = Plan {
    seed: 1,
    requests: 2000,
    warmup: Some(200),
    replications: 100,
    precision: None,
    rejections: None,
    long_run: false,
    cores: NonZeroUsize::new(1),
};

/// The outcome when it is ended after so many replications.
fn ended_after(plan: &Plan, most: u32) -> Outcome {
    let stop = AtomicBool::new(most == 0);
    let tell = |done: u32| stop.store(done >= most, Ordering::Relaxed);
    run_under(&Model::default(), plan, Control { stop: &stop, tell: &tell }).unwrap()
}

#[test]
fn what_is_known_is_the_outcome() {
    let outcome = ended_after(&PLAN, 10);
    assert_eq!((outcome.replications, outcome.precision), (10, Precision::Interrupted));
    let same = run(&Model::default(), &Plan { replications: 10, ..PLAN }).unwrap();
    assert_eq!((outcome.latency, outcome.rejected), (same.latency, same.rejected));
    assert_eq!(same.precision, Precision::Fixed);
}

#[test]
fn a_long_run_ends_where_it_is() {
    let plan = Plan { long_run: true, ..PLAN };
    let outcome = ended_after(&plan, 10);
    assert_eq!(outcome.precision, Precision::Interrupted);
    assert!((20_000..22_000).contains(&outcome.requests), "{}", outcome.requests);
    assert_eq!(ended_after(&plan, 100).precision, Precision::Fixed);
}

#[test]
fn ended_before_the_first_there_is_nothing() {
    for warmup in [None, Some(200)] {
        let outcome = ended_after(&Plan { warmup, ..PLAN }, 0);
        assert_eq!((outcome.replications, outcome.precision), (0, Precision::Interrupted));
        assert!(outcome.latency.mean.mean.is_nan(), "{outcome}");
    }
}
