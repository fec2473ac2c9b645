//! A server that may not use its processors all of the time, and requests of a log whose kinds are known.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use sim::{Class, Discipline, Equipment, Model, Offered, Outcome, Plan, Quota, Service, Traced};

fn run(model: &Model) -> Outcome {
    let plan =
        Plan { requests: 4000, warmup: Some(100), replications: 2, precision: None, ..Plan::default() };
    sim::run(model, &plan).unwrap()
}

fn half(demand: f64) -> Model {
    Model {
        classes: vec![Class::new("all", 1.0, demand)],
        service: Service::Constant,
        quota: Some(Quota { processors: 0.5, period: 0.1 }),
        ..Model::default()
    }
}

#[track_caller]
fn assert_near(value: f64, expected: f64, by: f64) {
    assert!((value / expected - 1.0).abs() < by, "{value}, not {expected}");
}

#[test]
fn a_request_longer_than_the_quota_takes_a_part_of_the_next_period() {
    let arrivals = "constant".parse().unwrap();
    let model = Model { arrivals, offered: Offered::Rate(1.0), ..half(0.080) };
    let found = run(&model);
    assert_near(found.latency.mean.mean, 0.130, 1e-9);
    // 80 ms a second of half a processor.
    assert_near(found.utilization.mean, 0.16, 1e-3);
}

#[test]
fn all_disciplines_serve_what_the_quota_leaves_and_no_more() {
    for discipline in ["ps", "fcfs", "srpt"] {
        let discipline: Discipline = discipline.parse().unwrap();
        let model = Model { discipline, offered: Offered::Rate(300.0), queue: Some(5), ..half(0.005) };
        let found = run(&model);
        assert_near(found.throughput.mean, 100.0, 0.02);
        assert_near(found.utilization.mean, 1.0, 0.02);
    }
}

#[test]
fn while_processors_stand_disks_do_not() {
    let equipment = Equipment { disks: 1, ..Equipment::default() };
    let classes = vec![Class { disk: 0.060, ..Class::new("all", 1.0, 0.050) }];
    let arrivals = "constant".parse().unwrap();
    let model = Model { equipment, classes, arrivals, offered: Offered::Rate(5.0), ..half(0.050) };
    // It has its whole quota at once, and then the disk.
    assert_near(run(&model).latency.mean.mean, 0.110, 1e-9);
}

#[test]
fn requests_of_a_log_come_in_its_order() {
    // A dynamic request always comes 100 ms after a static one.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("access.log");
    let line = |at: f64, url: &str| {
        format!("{{\"ts\":{at:.3},\"request\":{{\"method\":\"GET\",\"uri\":\"{url}\"}},\"status\":200}}\n")
    };
    let log: String = (0..500)
        .map(|number| 1.7e9 + 10.0 * f64::from(number))
        .flat_map(|at| [line(at, "/"), line(at + 0.1, "/page.php")])
        .collect();
    std::fs::write(&file, log).unwrap();
    let traced = Traced::named("log:access.log", directory.path()).unwrap().unwrap();
    let share = 500.0 / 999.0;
    let model = Model {
        arrivals: traced.arrivals,
        offered: Offered::Rate(traced.rate),
        classes: vec![Class::new("static", 1.0 - share, 0.2), Class::new("dynamic", share, 0.5)],
        service: Service::Constant,
        ..Model::default()
    };
    let found = run(&model);
    let latency = |class: usize| found.classes[class].latency.mean.mean;
    // Alone for 100 ms, together for 200 ms, alone for the rest. Where the log begins anew two dynamic ones follow one another.
    assert_near(latency(0), 0.3, 0.01);
    assert_near(latency(1), 0.6, 0.01);
}
