//! What the knob `favour` does where sessions are admitted.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;

use policy::{Config, Knobs};
use sim::{Gate, Plan, Script, SessionClassOutcome, SessionModel, run_sessions};
use traffic::{Ramp, Workload};
use units::{Rate, Ratio, Span};

use crate::sessions::{GATE_COST, REQUEST_COST, classes, demonstration, gate};

/// Visits of a shop at three times what one processor carries, behind a gate with this `favour`.
fn shop(favour: f64) -> SessionModel {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/play/shop.toml");
    let workload = Workload::read(&file).unwrap();
    let time = |url: &str| url.strip_prefix("/burn?cpu=").unwrap().parse::<Span>().unwrap() + REQUEST_COST;
    let script = Script::new(&workload, time);
    let gate = gate(&script, &workload, GATE_COST);
    let knobs = Knobs { favour: Ratio::clamped(favour), ..Knobs::default() };
    SessionModel {
        gate: Some(Gate { policy: Config { knobs, ..Config::default() }, ..gate }),
        script,
        starts: Ramp::steady(Rate::per_second(165.0).unwrap(), Span::from_secs(5)),
        warmup: Span::from_secs(60),
        duration: Span::from_secs(60),
        ..demonstration(3.0, false, (REQUEST_COST, Span::ZERO))
    }
}

#[test]
fn sessions_under_way_wait_as_long_as_favour_says() {
    let plan = Plan { seed: 1, replications: 2, precision: None, ..Plan::default() };
    let [fast, middle, most] = [0.0, 0.5, 1.0].map(|favour| run_sessions(&shop(favour), &plan).unwrap());
    let [[_, fast], [_, middle], [_, most]] = [&fast, &middle, &most].map(classes);
    let p95 = |class: &SessionClassOutcome| class.response.p95.mean;
    assert!(p95(fast) < 0.4 * p95(middle) && p95(middle) < p95(most), "{fast:?}, {middle:?}, {most:?}");
    // The price of it is small.
    assert!(fast.completion.mean > 0.93 * middle.completion.mean, "{fast:?}, {middle:?}");
    assert!(fast.timed_out.mean < 0.1 * most.timed_out.mean, "{fast:?}, {most:?}");
}
