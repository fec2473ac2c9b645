//! Servers behind the server.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use sim::{Call, Class, Discipline, Fleet, Model, Offered, Outcome, Plan, Service, Tier};

fn tier(name: &str, processors: u32, threads: u32) -> Tier {
    Tier { name: name.to_owned(), processors, threads, discipline: Discipline::FirstCome }
}

/// A page of 10 ms that asks the database for 20 ms, unless a cache knows the answer, and the store twice for 5 ms.
fn shop() -> Model {
    let calls = vec![
        Call { tier: 0, demand: 0.02, share: 0.25, times: 1 },
        Call { tier: 1, demand: 0.005, share: 1.0, times: 2 },
    ];
    Model {
        offered: Offered::Rate(60.0),
        classes: vec![Class { calls, ..Class::new("page", 1.0, 0.01) }],
        service: Service::Exponential,
        threads: 10_000,
        queue: None,
        tiers: vec![tier("database", 1, 1000), tier("store", 1, 1000)],
        ..Model::default()
    }
}

fn run(model: &Model) -> Outcome {
    let plan = Plan { requests: 200_000, replications: 8, precision: None, ..Plan::default() };
    sim::run(model, &plan).unwrap()
}

#[track_caller]
fn near(what: &str, seen: f64, exact: f64) {
    assert!((seen / exact - 1.0).abs() < 0.02, "{what}: {seen}, not {exact}");
}

/// Jackson's network: each is M/M/1 by itself (Jackson, "Networks of waiting lines", 1957).
#[test]
fn with_threads_for_all_each_tier_is_a_queue_by_itself() {
    let outcome = run(&shop());
    let stay = |demand: f64, visits: f64| visits * demand / (1.0 - 60.0 * visits * demand);
    near("latency", outcome.latency.mean.mean, stay(0.01, 1.0) + stay(0.02, 0.25) + stay(0.005, 2.0));
    near("database", outcome.tiers[0].utilization.mean, 0.3);
    near("store", outcome.tiers[1].utilization.mean, 0.6);
    near("connections", outcome.tiers[1].threads.mean, 1.5 / 1000.0);
    near("processor", outcome.utilization.mean, 0.6);
    let text = outcome.to_string();
    assert!(text.contains("tier database"), "{text}");
}

/// Two threads that are always taken are two clients of a closed network.
#[test]
fn a_thread_is_held_while_it_waits_for_a_tier() {
    let model = Model {
        offered: Offered::Rate(500.0),
        classes: vec![Class {
            calls: vec![Call { tier: 0, demand: 0.02, share: 1.0, times: 1 }],
            ..Class::new("page", 1.0, 0.01)
        }],
        threads: 2,
        queue: Some(50),
        tiers: vec![tier("database", 1, 1000)],
        ..shop()
    };
    let outcome = run(&model);
    // Two clients, demands 10 and 20 ms, by mean value analysis: the second meets 1/3 and 2/3 of the first.
    let cycle = 0.01 * (1.0 + 1.0 / 3.0) + 0.02 * (1.0 + 2.0 / 3.0);
    near("throughput", outcome.throughput.mean, 2.0 / cycle);
    // A pool of one connection is as a database of one processor.
    let pooled = Model { tiers: vec![tier("database", 8, 1)], ..model };
    let outcome = run(&pooled);
    near("pooled", outcome.throughput.mean, 2.0 / cycle);
    near("connection", outcome.tiers[0].threads.mean, 0.02 * 2.0 / cycle);
    near("processors", outcome.tiers[0].utilization.mean, 0.02 * 2.0 / cycle / 8.0);
    // One of the two waits where the other is there as well.
    assert!((0.4..0.9).contains(&outcome.tiers[0].waiting.mean), "{outcome:?}");
}

/// What a cache does not know is asked for several times, and what it knows not at all.
#[test]
fn who_makes_a_call_makes_it_as_often_as_it_takes() {
    let calls = vec![Call { tier: 0, demand: 0.001, share: 0.25, times: 4 }];
    let model = Model {
        offered: Offered::Rate(0.1),
        classes: vec![Class { calls, ..Class::new("page", 1.0, 0.01) }],
        service: Service::Constant,
        tiers: vec![tier("database", 1, 1)],
        ..shop()
    };
    let latency = run(&model).latency;
    near("three of four", latency.p50.mean, 0.01);
    near("one of four", latency.p90.mean, 0.014);
    near("all", latency.mean.mean, 0.011);
}

#[test]
fn a_tier_that_cannot_keep_up_is_named() {
    let slow = Model {
        offered: Offered::Rate(95.0),
        tiers: vec![tier("database", 1, 1000), tier("store", 1, 1)],
        ..shop()
    };
    assert!(slow.check().is_ok());
    let mut slower = slow;
    slower.classes[0].calls[1].times = 3;
    let why = slower.check().unwrap_err().to_string();
    assert!(why.contains("the tier \"store\" serves 66.67 at most"), "{why}");
    let fleet = Model { fleet: Fleet { servers: 2, ..Fleet::default() }, ..shop() };
    assert!(fleet.check().unwrap_err().to_string().contains("tiers are simulated behind one server"));
    let spinning = Discipline::RoundRobin(units::Span::ZERO);
    let tiers = vec![Tier { discipline: spinning, ..tier("database", 1, 5) }, tier("store", 1, 5)];
    assert!(Model { tiers, ..shop() }.check().unwrap_err().to_string().contains("quantum"));
    slower.classes[0].calls.pop();
    let why = slower.check().unwrap_err().to_string();
    assert!(why.contains("a tier") && why.contains("a call of it"), "{why}");
}

/// With processors for all, a class with one worker is M/M/1 by itself, and another one does not wait for it.
#[test]
fn a_class_with_workers_of_its_own_waits_for_them_alone() {
    let dynamic = Class { workers: Some(1), ..Class::new("dynamic", 1.0, 0.02) };
    let model = Model {
        offered: Offered::Rate(70.0),
        classes: vec![Class::new("static", 1.0, 0.001), dynamic],
        processors: 1000,
        tiers: Vec::new(),
        ..shop()
    };
    let outcome = run(&model);
    near("static", outcome.classes[0].latency.mean.mean, 0.001);
    near("dynamic", outcome.classes[1].latency.mean.mean, 0.02 / (1.0 - 35.0 * 0.02));
    // It is held while a tier is asked.
    let mut called = model;
    called.classes[1].calls = vec![Call { tier: 0, demand: 0.01, share: 1.0, times: 1 }];
    called.tiers = vec![tier("database", 1000, 1000)];
    called.offered = Offered::Rate(40.0);
    let load: f64 = 20.0 * 0.03;
    // M/G/1 with the sum of two exponential times: c_v^2 = 5 / 9.
    let wait = load * (1.0 + 5.0 / 9.0) / (2.0 * (1.0 - load)) * 0.03;
    near("called", run(&called).classes[1].latency.mean.mean, 0.03 + wait);
    called.offered = Offered::Rate(70.0);
    let why = called.check().unwrap_err().to_string();
    assert!(why.contains("the workers of the class \"dynamic\" serve 66.67 at most"), "{why}");
}

/// A request that needs nothing is answered at once, and gives its worker back.
#[test]
fn who_needs_nothing_is_served() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("needs.txt");
    std::fs::write(&file, "0\n0\n0\n20ms\n").unwrap();
    let samples = Some(sim::Samples::read(&file).unwrap());
    let model = Model {
        classes: vec![Class { samples, workers: Some(1), ..Class::new("page", 1.0, 0.005) }],
        tiers: Vec::new(),
        ..shop()
    };
    let outcome = run(&model);
    near("throughput", outcome.throughput.mean, 60.0);
    near("utilization", outcome.utilization.mean, 0.3);
}
