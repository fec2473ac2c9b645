//! Clients that come back when they are rejected.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use sim::{Model, Offered, Outcome, Plan, Retries};

fn run(retries: Option<Retries>) -> Outcome {
    let model = Model { offered: Offered::Load(1.0), threads: 3, retries, ..Model::default() };
    let plan = Plan { requests: 50_000, replications: 8, precision: None, ..Plan::default() };
    sim::run(&model, &plan).unwrap()
}

#[test]
fn what_is_rejected_is_not_lost_while_it_comes_back() {
    let rate = Model::default().rate().unwrap();
    let outcome = run(Some(Retries { share: 0.9, delay: 1.0, most: 20 }));
    let lost = outcome.lost.unwrap();
    // What is not lost is served.
    assert!((lost.mean - (1.0 - outcome.throughput.mean / rate)).abs() < 0.01, "{outcome:?}");
    assert!(lost.mean < 0.7 * outcome.rejected.mean, "{outcome:?}");
    assert!(outcome.to_string().contains("lost "), "{outcome}");
    // Who never comes back loses what is rejected.
    let never = run(Some(Retries { share: 0.0, delay: 1.0, most: 1 }));
    assert!((never.lost.unwrap().mean - never.rejected.mean).abs() < 1e-3, "{never:?}");
    assert_eq!(run(None).lost, None);
}
