//! Table 1 of the paper: the queue lengths at which around 5 % of the requests are rejected.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use sim::{Model, Plan};
use traffic::Process;

fn check(cv: f64, queue: u32, percent: f64) {
    let process = Process::hyperexponential(cv).unwrap();
    let model = Model { arrivals: process.into(), queue: Some(queue), ..Model::default() };
    let plan = Plan { replications: 120, precision: Some(0.008), ..Plan::default() };
    let outcome = sim::run(&model, &plan).unwrap();
    let rejected = outcome.rejected.mean * 100.0;
    assert!((rejected - percent).abs() < 0.15, "c_v {cv}, queue {queue}: {rejected:.3} %, not {percent} %");
}

#[test]
fn table_1_poisson_without_a_queue() {
    check(1.0, 0, 3.8);
}

#[test]
fn table_1_twice_as_variable_with_24_places() {
    check(2.0, 24, 4.3);
}

#[test]
fn table_1_three_times_as_variable_with_66_places() {
    check(3.0, 66, 4.65);
}

#[test]
fn table_1_four_times_as_variable_with_120_places() {
    check(4.0, 120, 5.0);
}
