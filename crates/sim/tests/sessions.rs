//! The policy in front of a simulated server: the demonstration of `experiments/overload.toml`.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;

use policy::{Config, Deadlines, Knobs, Limits, SessionLimits, Window};
use sim::{Gate, Host, Plan, Script, SessionClassOutcome, SessionModel, SessionsOutcome, run_sessions};
use traffic::{Process, Workload};
use units::{ClassId, Rate, Ratio, Span};

/// A session burns 100 ms of the only processor in its pages, and a little in nine requests.
const CAPACITY: f64 = 9.92;
const REQUEST_COST: Span = Span::from_micros(90);

fn gate(script: &Script, workload: &Workload) -> Gate {
    let deadlines = Deadlines {
        acceptor: Span::from_millis(200),
        pending: Span::from_millis(200),
        discard: Span::from_millis(400),
        class: Span::from_millis(500),
    };
    let mut policy = Config {
        knobs: Knobs { differentiation: Ratio::ONE, favour: Ratio::clamped(0.5) },
        period: Span::from_millis(100),
        window: Window::Fixed(1),
        limits: Limits { deadlines, ..Limits::default() },
        ..Config::default()
    };
    policy.classes[0].target_queue = Some(100);
    let premium = Some(("tier".to_owned(), "premium".to_owned()));
    let classes = script.classified(workload, |class, _| ClassId(u8::from(class.cookie != premium)));
    Gate { policy, limits: SessionLimits::default(), cost: Span::from_micros(100), classes }
}

fn simulate(load: f64, gated: bool, cores: usize) -> SessionsOutcome {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/workloads/banking.toml");
    let workload = Workload::read(&file).unwrap();
    let script = Script::new(&workload, |url| match url.strip_prefix("/burn?cpu=") {
        Some(time) => time.parse::<Span>().unwrap() + REQUEST_COST,
        None => REQUEST_COST,
    });
    let model = SessionModel {
        gate: gated.then(|| gate(&script, &workload)),
        script,
        host: Host::default(),
        process: Process::Poisson,
        rate: Rate::per_second(load * CAPACITY).unwrap(),
        warmup: Span::from_millis(2500),
        duration: Span::from_secs(5),
    };
    let plan =
        Plan { seed: 1, replications: 24, precision: None, cores: cores.try_into().ok(), ..Plan::default() };
    run_sessions(&model, &plan).unwrap()
}

fn classes(outcome: &SessionsOutcome) -> [&SessionClassOutcome; 2] {
    assert_eq!([&*outcome.classes[0].name, &*outcome.classes[1].name], ["premium", "basic"]);
    [&outcome.classes[0], &outcome.classes[1]]
}

#[test]
fn at_three_times_capacity_premium_is_served_and_basic_is_shed() {
    let outcome = simulate(3.0, true, 2);
    let [premium, basic] = classes(&outcome);
    assert!(premium.completion.mean >= 0.999, "{premium:?}");
    assert!(premium.session.p90.mean < 1.0, "{premium:?}");
    assert!(basic.completion.mean < 0.4, "{basic:?}");
    // Told at once rather than left waiting.
    assert!(basic.refused.mean > 20.0 * basic.timed_out.mean, "{basic:?}");
    // What premium leaves, basic gets.
    assert!(outcome.throughput.mean > 0.8 * CAPACITY, "{outcome}");
}

#[test]
fn bare_all_suffer_alike() {
    let outcome = simulate(3.0, false, 2);
    let [premium, basic] = classes(&outcome);
    assert!(premium.completion.mean < 0.5, "{premium:?}");
    assert!((premium.completion.mean - basic.completion.mean).abs() < 0.1, "{outcome}");
    assert_eq!(premium.refused.mean + basic.refused.mean, 0.0);
}

#[test]
fn below_capacity_nobody_is_turned_away() {
    for gated in [false, true] {
        for class in classes(&simulate(0.5, gated, 2)) {
            assert!(class.completion.mean > 0.999, "gate {gated}: {class:?}");
            assert_eq!(class.started, class.completed);
        }
    }
}

#[test]
fn the_number_of_cores_changes_nothing() {
    let without_time = |mut outcome: SessionsOutcome| {
        (outcome.elapsed, outcome.events_per_second) = (0.0, 0.0);
        outcome
    };
    let [one, two] = [1, 2].map(|cores| without_time(simulate(2.0, true, cores)));
    assert_eq!(one, two);
    // The gate meets the sessions that the bare server meets.
    let bare = simulate(2.0, false, 1);
    for (gated, bare) in classes(&one).into_iter().zip(classes(&bare)) {
        assert_eq!(gated.started, bare.started);
    }
}
