//! The simulator against what can be computed without chance.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::num::NonZeroUsize;

use sim::exact::{self, Method};
use sim::{Class, Discipline, Model, Offered, Outcome, Plan, Precision, Service};
use stats::MeanEstimate;
use traffic::Process;
use units::Span;

fn run(model: &Model, requests: u64, replications: u32) -> Outcome {
    sim::run(model, &Plan { requests, replications, precision: None, ..Plan::default() }).unwrap()
}

/// A point of the paper's model with exponential classes.
fn point(cv: f64, dynamic: f64, cost: f64, load: f64, queue: u32) -> Model {
    Model {
        arrivals: Process::hyperexponential(cv).unwrap().into(),
        classes: Model::paper_classes(dynamic, cost, 0.005),
        service: Service::Exponential,
        offered: Offered::Load(load),
        queue: Some(queue),
        ..Model::default()
    }
}

/// A 95 % interval misses one time in twenty: of twenty, two may miss (more do so in one case out of 13).
#[test]
fn intervals_cover_the_exact_values_of_twenty_models() {
    let points = [
        point(1.0, 0.0, 1.0, 1.0, 0),
        point(1.0, 0.2, 100.0, 1.0, 0),
        point(1.0, 0.2, 100.0, 1.0, 60),
        point(1.0, 0.5, 10.0, 0.9, 10),
        point(1.5, 0.1, 100.0, 1.0, 10),
        point(1.5, 0.3, 30.0, 1.2, 20),
        point(2.0, 0.2, 100.0, 1.0, 24),
        point(2.0, 0.2, 10.0, 0.95, 24),
        point(2.0, 0.0, 1.0, 1.0, 100),
        point(2.0, 0.6, 100.0, 1.5, 5),
        point(2.5, 0.05, 200.0, 1.0, 40),
        point(2.5, 0.2, 100.0, 0.8, 0),
        point(3.0, 0.2, 100.0, 1.0, 66),
        point(3.0, 0.4, 100.0, 1.0, 66),
        point(3.0, 0.2, 20.0, 1.1, 30),
        point(3.0, 0.2, 100.0, 0.9, 120),
        point(4.0, 0.2, 100.0, 1.0, 120),
        point(4.0, 0.1, 50.0, 1.0, 0),
        point(4.0, 0.5, 100.0, 0.95, 50),
        point(5.0, 0.2, 100.0, 2.0, 10),
    ];
    let both = points.iter().map(|model| (run(model, 150_000, 24), exact::solve(model).unwrap()));
    let both: Vec<_> = both.collect();
    let rejected = both.iter().filter(|(seen, exact)| !seen.rejected.covers(exact.rejected)).count();
    let latency = both.iter().filter(|(seen, exact)| !seen.latency.mean.covers(exact.latency)).count();
    assert!(rejected <= 2 && latency <= 2, "{rejected} intervals of rejection and {latency} of latency miss");
}

/// How long a replication has to be is found, whatever is asked for: one that ends before the server has
/// forgotten that it was empty would be wrong, and sure of it.
#[test]
fn short_replications_are_made_as_long_as_it_takes() {
    let model = point(3.0, 0.2, 100.0, 1.0, 66);
    let solution = exact::solve(&model).unwrap();
    let run = |seed| {
        let plan = Plan { requests: 2_000, replications: 40, precision: None, seed, ..Plan::default() };
        sim::run(&model, &plan).unwrap()
    };
    let outcomes: Vec<Outcome> = (1..=20).map(run).collect();
    let rejected = outcomes.iter().filter(|seen| seen.rejected.covers(solution.rejected)).count();
    let latency = outcomes.iter().filter(|seen| seen.latency.mean.covers(solution.latency)).count();
    assert!(rejected >= 17 && latency >= 17, "{rejected} and {latency} of 20 cover");
    assert!(outcomes.iter().all(|seen| seen.requests >= 10 * seen.warmup));
}

/// Starting from empty it takes 100,000 requests until a queue of 1,000 is what it will be.
#[test]
fn a_long_queue_gets_a_long_warmup() {
    let model = point(2.0, 0.2, 100.0, 1.0, 1000);
    let plan = Plan { replications: 6, precision: None, ..Plan::default() };
    let (outcome, solution) = (sim::run(&model, &plan).unwrap(), exact::solve(&model).unwrap());
    assert!(outcome.warmup > 40_000, "{}", outcome.warmup);
    assert!(outcome.latency.mean.covers(solution.latency), "{:?}, not {}", outcome.latency, solution.latency);
}

/// One request in some thousands is rejected: it goes on until enough have been, and says what it would take.
#[test]
fn a_rare_rejection_is_waited_for() {
    let model = Model { threads: 1, ..point(1.0, 0.0, 1.0, 0.5, 10) };
    let exact = exact::solve(&model).unwrap().rejected;
    let plan = Plan { requests: 20_000, precision: None, rejections: Some(100), ..Plan::default() };
    for long_run in [false, true] {
        let outcome = sim::run(&model, &Plan { long_run, ..plan }).unwrap();
        assert_eq!(outcome.precision, Precision::Reached, "{outcome:?}");
        assert!((100..400).contains(&outcome.rejections), "{}", outcome.rejections);
        assert!((outcome.rejected.mean / exact - 1.0).abs() < 0.4, "{:?}, not {exact}", outcome.rejected);
    }
    let short = sim::run(&model, &Plan { replications: 8, rejections: Some(100_000), ..plan }).unwrap();
    let Precision::Missed { replications, .. } = short.precision else { panic!("{short:?}") };
    let needed = 100_000.0 / exact / short.requests as f64;
    assert!((replications as f64 / needed - 1.0).abs() < 0.5, "{replications}, not {needed}");
}

fn near(what: &str, outcome: &MeanEstimate, exact: f64) {
    assert!((outcome.mean / exact - 1.0).abs() < 0.02, "{what}: {outcome:?}, not {exact}");
}

fn agrees(model: &Model, method: Method) {
    let solution = exact::solve(model).unwrap();
    assert_eq!(solution.method, method);
    let outcome = run(model, 400_000, 8);
    near("latency", &outcome.latency.mean, solution.latency);
    near("utilization", &outcome.utilization, solution.utilization);
    near("throughput", &outcome.throughput, solution.throughput);
    near("present", &outcome.present, solution.present);
    assert!((outcome.rejected.mean - solution.rejected).abs() < 0.005, "{outcome:?}, not {solution:?}");
    for (class, exact) in outcome.classes.iter().zip(&solution.latency_by_class) {
        near(&class.name, &class.latency.mean, *exact);
    }
}

fn one_class(demand: f64) -> Vec<Class> {
    vec![Class::new("all", 1.0, demand)]
}

#[test]
fn known_queues() {
    let model = Model { offered: Offered::Load(0.7), ..Model::default() };
    agrees(&model, Method::InsensitiveLoss);
    let endless = Model { threads: 1_000_000, queue: None, classes: one_class(0.01), ..model.clone() };
    agrees(&endless, Method::InsensitiveSharing);
    let first_come = Model { discipline: Discipline::FirstCome, queue: None, ..model.clone() };
    agrees(&Model { classes: one_class(0.01), ..first_come.clone() }, Method::PollaczekKhinchine);
    let markov = Model {
        discipline: Discipline::FirstCome,
        service: Service::Exponential,
        classes: one_class(0.01),
        processors: 3,
        threads: 5,
        queue: Some(10),
        offered: Offered::Load(1.1),
        ..model.clone()
    };
    agrees(&markov, Method::Markov);
    let fewer_threads = Model { threads: 2, processors: 4, offered: Offered::Load(0.8), ..markov };
    agrees(&fewer_threads, Method::Markov);
    let two = Model { processors: 2, ..point(2.0, 0.2, 10.0, 0.9, 30) };
    agrees(&two, Method::QuasiBirthDeath);
}

#[test]
fn a_short_quantum_is_nearly_processor_sharing() {
    let sharing = point(2.0, 0.2, 10.0, 0.9, 20);
    let robin = Model { discipline: Discipline::RoundRobin(Span::from_micros(500)), ..sharing.clone() };
    let (sharing, robin) = (exact::solve(&sharing).unwrap(), run(&robin, 200_000, 8));
    near("latency", &robin.latency.mean, sharing.latency);
    assert!((robin.rejected.mean - sharing.rejected).abs() < 0.003);
}

#[test]
fn the_same_seed_gives_the_same_outcome_on_any_number_of_cores() {
    let on = |cores| {
        let plan = Plan {
            requests: 20_000,
            replications: 40,
            precision: Some(0.05),
            cores: NonZeroUsize::new(cores),
            ..Plan::default()
        };
        let outcome = sim::run(&point(3.0, 0.2, 100.0, 1.0, 66), &plan).unwrap();
        Outcome { elapsed: 0.0, events_per_second: 0.0, precision: Precision::Fixed, ..outcome }
    };
    assert_eq!(on(1), on(2));
    assert_eq!(on(1), on(7));
    let other = sim::run(&Model::default(), &Plan { seed: 2, ..Plan::default() }).unwrap();
    assert_ne!(other.rejected, sim::run(&Model::default(), &Plan::default()).unwrap().rejected);
}

#[test]
fn what_cannot_be_as_precise_as_asked_says_what_it_would_take() {
    let plan = Plan { requests: 1000, replications: 8, precision: Some(1e-4), ..Plan::default() };
    let outcome = sim::run(&point(4.0, 0.2, 100.0, 1.0, 120), &plan).unwrap();
    let Precision::Missed { relative, replications, seconds } = outcome.precision else {
        panic!("{:?}", outcome.precision);
    };
    assert!(relative > 1e-4 && replications > 1000 && seconds > 0.0);
    assert_eq!(outcome.replications, 8);
}

#[test]
fn one_long_run_agrees_as_well() {
    let model = point(2.0, 0.2, 100.0, 1.0, 24);
    let plan = Plan { replications: 40, long_run: true, precision: None, ..Plan::default() };
    let (outcome, solution) = (sim::run(&model, &plan).unwrap(), exact::solve(&model).unwrap());
    near("latency", &outcome.latency.mean, solution.latency);
    near("present", &outcome.present, solution.present);
    assert!((outcome.rejected.mean - solution.rejected).abs() < 0.002);
    assert!(outcome.rejected.half_width() < 0.003 && outcome.replications == 1);
    let many = sim::run(&model, &Plan { long_run: false, ..plan }).unwrap();
    near("p90", &outcome.latency.p90, many.latency.p90.mean);
    near("p99 of a class", &outcome.classes[0].latency.p99, many.classes[0].latency.p99.mean);
}

#[test]
fn a_long_run_ends_when_it_is_precise_enough() {
    let model = point(2.0, 0.2, 100.0, 1.0, 24);
    let plan = Plan { long_run: true, precision: Some(0.03), ..Plan::default() };
    let outcome = sim::run(&model, &plan).unwrap();
    assert_eq!(outcome.precision, Precision::Reached);
    assert!(outcome.requests < plan.requests * 100, "{}", outcome.requests);
    let short = Plan { replications: 8, precision: Some(0.001), ..plan };
    let Precision::Missed { replications, .. } = sim::run(&model, &short).unwrap().precision else {
        panic!("a thousandth is not had from 8 replications' requests");
    };
    assert!(replications > 100, "{replications}");
}

#[test]
fn clients_in_a_closed_loop_agree_with_mean_value_analysis() {
    let clients = Model {
        offered: Offered::Clients(20, 0.5),
        classes: vec![Class { disk: 0.03, ..Class::new("all", 1.0, 0.02) }],
        service: Service::Exponential,
        threads: 25,
        ..Model::default()
    };
    agrees(&clients, Method::MeanValueAnalysis);
    let bare = Model { classes: one_class(0.05), service: Service::Constant, ..clients };
    agrees(&bare, Method::MeanValueAnalysis);
}

/// One processor that never is without a thread for a request.
fn endless(discipline: Discipline, service: &str) -> Model {
    Model {
        offered: Offered::Load(0.8),
        classes: one_class(0.01),
        service: service.parse().unwrap(),
        threads: 1_000_000,
        queue: None,
        discipline,
        ..Model::default()
    }
}

/// Kleinrock, "Queueing Systems", volume 2, section 4.7: as under processor sharing, whatever the needs.
#[test]
fn last_come_first_served_with_preemption_is_insensitive() {
    for service in ["constant", "gamma:2"] {
        let outcome = run(&endless(Discipline::LastCome, service), 400_000, 8);
        near(service, &outcome.latency.mean, 0.01 / (1.0 - 0.8));
    }
}

/// Schrage and Miller, "The queue M/G/1 with the shortest remaining processing time discipline" (1966): the wait until a
/// request is begun, and its stay from then on.
#[test]
fn shortest_remaining_first_has_the_mean_that_is_known() {
    let (mean, rate): (f64, f64) = (0.01, 80.0);
    let steps = 200_000;
    let width = 30.0 * mean / f64::from(steps);
    // Of exponential needs up to x: load, and second moment with what is longer cut at x.
    let (mut load, mut second, mut stay, mut expected) = (0.0, 0.0, 0.0, 0.0);
    for step in 0..steps {
        let x = (f64::from(step) + 0.5) * width;
        let density = (-x / mean).exp() / mean;
        load += rate * x * density * width;
        second += x * x * density * width;
        stay += width / (1.0 - load);
        let cut = second + x * x * (-x / mean).exp();
        expected += density * width * (rate * cut / 2.0 / (1.0 - load).powi(2) + stay);
    }
    let outcome = run(&endless(Discipline::ShortestRemaining, "exponential"), 400_000, 8);
    near("srpt", &outcome.latency.mean, expected);
    assert!(expected < 0.01 / (1.0 - 0.8) * 0.7, "much less than when the processor is shared: {expected}");
}

/// Kleinrock, volume 2, section 3.6: preemptive priorities, M/M/1.
#[test]
fn classes_with_priority_wait_for_those_before_them_alone() {
    let classes = vec![Class::new("first", 1.0, 0.01), Class::new("second", 1.0, 0.01)];
    let model = Model { classes, ..endless(Discipline::Priority, "exponential") };
    let outcome = run(&model, 400_000, 8);
    let (first, both) = (0.4, 0.8);
    near("first", &outcome.classes[0].latency.mean, 0.01 / (1.0 - first));
    near("second", &outcome.classes[1].latency.mean, 0.01 / (1.0 - first) / (1.0 - both));
    // Two processors: the first class is M/M/2 by itself, and so are both together, since they need as much.
    let two = Model { processors: 2, ..model };
    let outcome = run(&two, 400_000, 8);
    let [first, both] = [0.4_f64, 0.8].map(|load| 0.01 / (1.0 - load * load));
    near("first of two", &outcome.classes[0].latency.mean, first);
    near("second of two", &outcome.classes[1].latency.mean, 2.0 * both - first);
}

/// Pollaczek and Khinchine's formula of a variation of 0.5.
#[test]
fn needs_are_as_in_the_file_of_samples() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("needs.txt");
    std::fs::write(&file, "10ms\n0.03\n").unwrap();
    let samples = Some(sim::Samples::read(&file).unwrap());
    let classes = vec![Class { samples, ..Class::new("all", 1.0, 0.02) }];
    let model = Model { classes, ..endless(Discipline::FirstCome, "constant") };
    let wait = 0.02 * 0.8 * (1.0 + 0.25) / (2.0 * (1.0 - 0.8));
    near("samples", &run(&model, 400_000, 8).latency.mean, 0.02 + wait);
    assert_eq!(exact::solve(&model), Err(exact::ExactError::NoMethod));
}
