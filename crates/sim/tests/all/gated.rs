//! The gate's policy in front of a model's server.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::atomic::AtomicBool;

use policy::{Config, Deadlines, Knobs, Limits, Mode, Window};
use sim::{
    Control, GateClassOutcome, GateConnections, Model, ModelGate, Offered, Outcome, Plan, Retries, run,
    run_behind,
};
use units::{ClassId, Ratio, Span};

const PLAN: Plan = Plan {
    seed: 7,
    requests: 4000,
    warmup: Some(400),
    replications: 8,
    precision: None,
    rejections: None,
    long_run: false,
    cores: None,
};

/// The policy lets so many of the important in when the window is full: its square root.
const EXPRESS: u32 = 5;

/// The paper's server, with short requests, at three times what it can serve.
fn model() -> Model {
    let classes = Model::paper_classes(0.2, 10.0, 0.005);
    Model { offered: Offered::Load(3.0), classes, queue: Some(EXPRESS), ..Model::default() }
}

/// A fifth of the requests are known as premium; the rules say basic of all.
fn gate(window: u32) -> ModelGate {
    let limits = Limits { deadlines: Deadlines::all(Span::from_millis(500)), ..Limits::default() };
    let knobs = Knobs { differentiation: Ratio::ONE, favour: Ratio::clamped(0.5) };
    ModelGate {
        policy: Config { knobs, limits, window: Window::Fixed(window), ..Config::default() },
        names: vec!["premium".to_owned(), "basic".to_owned()],
        classes: vec![ClassId(1); 2],
        known: 0.2,
        cost: 0.0,
        connections: GateConnections::default(),
    }
}

fn behind(gate: &ModelGate, model: &Model, plan: &Plan) -> Outcome {
    let stop = AtomicBool::new(false);
    run_behind(gate, model, plan, Control { stop: &stop, tell: &|_| () }).unwrap()
}

fn classes(outcome: &Outcome) -> [&GateClassOutcome; 2] {
    assert_eq!([&*outcome.gate[0].name, &*outcome.gate[1].name], ["premium", "basic"]);
    [&outcome.gate[0], &outcome.gate[1]]
}

#[test]
fn a_gate_that_lets_all_pass_changes_nothing() {
    let closed = Model { offered: Offered::Clients(60, 0.1), ..model() };
    let retries = Retries { share: 0.5, delay: 0.2, backoff: 1.0, most: 3, anew: false };
    let retrying = Model { retries: Some(retries), queue: Some(5), ..model() };
    for model in [model(), closed, retrying] {
        let mut gate = gate(25);
        gate.policy.mode = Mode::Shadow;
        let (bare, gated) = (run(&model, &PLAN).unwrap(), behind(&gate, &model, &PLAN));
        assert_eq!(bare.rejected.mean, gated.rejected.mean);
        let latencies = [&bare, &gated].map(|outcome| [outcome.latency.mean, outcome.latency.p90]);
        // Sums in another order.
        for (bare, gated) in latencies[0].iter().zip(latencies[1]) {
            assert!((bare.mean / gated.mean - 1.0).abs() < 1e-9, "{bare:?} {gated:?}");
        }
        for class in classes(&gated) {
            assert_eq!(class.refused.mean, 0.0);
            assert!((class.rejected.mean / bare.rejected.mean - 1.0).abs() < 0.05, "{gated}");
        }
    }
}

#[test]
fn premium_is_served_and_basic_refused() {
    let outcome = behind(&gate(25), &model(), &PLAN);
    let [premium, basic] = classes(&outcome);
    assert!(premium.served.mean > 0.99, "{outcome}");
    assert!(premium.latency.p90.mean < basic.latency.p90.mean, "{outcome}");
    // Two thirds of all have to be turned away, and the gate lets no more through than there is room.
    assert!((outcome.rejected.mean - 2.0 / 3.0).abs() < 0.02, "{outcome}");
    assert!(basic.refused.mean > 0.8, "{outcome}");
    assert_eq!(premium.rejected.mean + basic.rejected.mean, 0.0);
    assert!(outcome.utilization.mean > 0.98, "{outcome}");
    let throughput = premium.throughput.mean + basic.throughput.mean;
    assert!((throughput / outcome.throughput.mean - 1.0).abs() < 1e-9, "{outcome}");
}

#[test]
fn a_full_server_rejects_what_the_gate_lets_pass() {
    // Basic takes all the room that there is; premium comes on top of that.
    let outcome = behind(&gate(25), &Model { queue: Some(0), ..model() }, &PLAN);
    let [premium, basic] = classes(&outcome);
    assert!(premium.rejected.mean > 0.9 && basic.rejected.mean == 0.0, "{outcome}");
    let roomy = behind(&gate(60), &Model { queue: Some(60), ..model() }, &PLAN);
    assert!(classes(&roomy).iter().all(|class| class.rejected.mean == 0.0), "{roomy}");
}

#[test]
fn the_gate_takes_its_part_of_the_processor() {
    let costly = ModelGate { cost: 0.014, ..gate(25) };
    let [with, without] = [&costly, &gate(25)].map(|gate| behind(gate, &model(), &PLAN));
    // Requests need 14 ms on average.
    assert!((with.throughput.mean / without.throughput.mean - 0.5).abs() < 0.05, "{with}");
}

#[test]
fn rules_decide_by_the_class_of_the_model() {
    let by_rule = ModelGate { classes: vec![ClassId(1), ClassId(0)], known: 0.0, ..gate(25) };
    let outcome = behind(&by_rule, &model(), &PLAN);
    // Dynamic requests are five sevenths of what is needed, more than the server can do in all.
    let [fixed, dynamic] = [&outcome.classes[0], &outcome.classes[1]];
    assert!(fixed.rejected.mean > 0.99 && dynamic.rejected.mean < 0.6, "{outcome}");
}

#[test]
fn the_number_of_cores_changes_nothing() {
    let [one, two] = [1, 2].map(|cores| {
        let plan = Plan { cores: cores.try_into().ok(), warmup: None, ..PLAN };
        let mut outcome = behind(&gate(25), &model(), &plan);
        (outcome.elapsed, outcome.events_per_second) = (0.0, 0.0);
        outcome
    });
    assert_eq!(one, two);
}

#[test]
fn what_the_policy_refuses_to_be_told_is_an_error() {
    let mut wrong = gate(25);
    wrong.policy.classes.clear();
    let stop = AtomicBool::new(false);
    let why = run_behind(&wrong, &model(), &PLAN, Control { stop: &stop, tell: &|_| () }).unwrap_err();
    assert!(why.to_string().contains("0 classes"), "{why}");
}

#[test]
fn the_adaptive_window_is_as_large_as_the_server_needs() {
    let plan = Plan { requests: 15_000, warmup: Some(10_000), replications: 3, ..PLAN };
    for processors in [1, 4] {
        let model = Model { processors, queue: Some(300), ..model() };
        let [found, large] = [Window::default(), Window::Fixed(25)].map(|window| {
            let mut gate = gate(25);
            gate.policy.window = window;
            behind(&gate, &model, &plan)
        });
        assert!(found.throughput.mean > 0.9 * large.throughput.mean, "{processors}: {found}{large}");
        // With 25 abreast each takes as much longer.
        let [found, large] = [&found, &large].map(|outcome| classes(outcome)[0].latency.mean.mean);
        assert!(found < 0.6 * large, "{processors}: {found} {large}");
    }
}
