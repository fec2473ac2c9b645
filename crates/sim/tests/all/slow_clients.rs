//! Slow clients that keep the connections of a gate: who is still served.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::atomic::AtomicBool;

use policy::connections::ConnectionLimits;
use policy::{Config, Window};
use sim::{
    Closing, Control, GateClassOutcome, GateConnections, Model, ModelGate, Offered, Outcome, Pace, Plan,
    SlowClients, run, run_behind,
};
use units::ClassId;

const PLAN: Plan = Plan {
    seed: 7,
    requests: 15_000,
    warmup: Some(1500),
    replications: 2,
    precision: None,
    rejections: None,
    long_run: false,
    cores: None,
};

/// At half of what the server can serve: a hundred requests a second, were there no slow clients.
fn model(slow_clients: SlowClients) -> Model {
    Model {
        offered: Offered::Load(0.5),
        classes: Model::paper_classes(0.0, 1.0, 0.005),
        queue: Some(100),
        slow_clients: Some(slow_clients),
        ..Model::default()
    }
}

/// A fifth of the requests are known as premium. There is room for 500 connections.
fn gate(closing: Closing) -> ModelGate {
    let limits = ConnectionLimits { connections: 500, ..ConnectionLimits::default() };
    ModelGate {
        policy: Config { window: Window::Fixed(16), ..Config::default() },
        names: vec!["premium".to_owned(), "basic".to_owned()],
        classes: vec![ClassId(1)],
        known: 0.2,
        cost: 0.0,
        connections: GateConnections { limits, closing, ..GateConnections::default() },
    }
}

fn outcome(slow: SlowClients, closing: Closing) -> Outcome {
    let stop = AtomicBool::new(false);
    run_behind(&gate(closing), &model(slow), &PLAN, Control { stop: &stop, tell: &|_| () }).unwrap()
}

fn classes(outcome: &Outcome) -> [&GateClassOutcome; 2] {
    [&outcome.gate[0], &outcome.gate[1]]
}

#[track_caller]
fn check_served(slow: SlowClients) {
    let outcome = outcome(slow, Closing::MakesRoom);
    for class in classes(&outcome) {
        assert!(class.served.mean > 0.99, "{outcome}");
        assert!(class.unaccepted.unwrap().mean < 0.001, "{outcome}");
    }
}

#[track_caller]
fn check_starved(slow: SlowClients) {
    let outcome = outcome(slow, Closing::Timeouts);
    for class in classes(&outcome) {
        assert!(class.served.mean < 0.6, "{outcome}");
        assert!(class.unaccepted.unwrap().mean > 0.4, "{outcome}");
    }
}

/// Each head takes longer than the gate waits for one.
fn slow_heads() -> SlowClients {
    SlowClients::new(2000, Pace::Send(10.0))
}

/// A client that takes 1000 bytes a second never runs into a timeout. What they ask for, besides, the server
/// can do: one that was closed comes back after ten seconds only.
fn slow_readers() -> SlowClients {
    let pace = Pace::Read { rate: 1000.0, response: 1e6 };
    SlowClients { again: 10.0, ..SlowClients::new(800, pace) }
}

#[test]
fn slow_heads_are_closed_to_make_room() {
    check_served(slow_heads());
    check_starved(slow_heads());
}

#[test]
fn slow_readers_are_closed_to_make_room() {
    check_served(slow_readers());
    check_starved(slow_readers());
}

#[test]
fn a_crowd_from_few_addresses_is_closed_as_well() {
    check_served(SlowClients { addresses: 4, ..slow_heads() });
}

#[test]
fn where_there_is_room_for_all_nobody_is_starved() {
    let few = SlowClients::new(200, Pace::Send(10.0));
    for closing in [Closing::MakesRoom, Closing::Timeouts] {
        let outcome = outcome(few, closing);
        assert!(classes(&outcome).iter().all(|class| class.served.mean > 0.99), "{outcome}");
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let [one, two] = [(); 2].map(|()| {
        let mut outcome = outcome(slow_readers(), Closing::MakesRoom);
        (outcome.elapsed, outcome.events_per_second) = (0.0, 0.0);
        outcome
    });
    assert_eq!(one, two);
}

#[test]
fn without_a_gate_there_are_no_connections_to_keep() {
    let why = run(&model(slow_heads()), &PLAN).unwrap_err();
    assert!(why.to_string().contains("there is no gate"), "{why}");
}
