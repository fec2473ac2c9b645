//! Clients that come back when they are rejected, or have given up.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::atomic::AtomicBool;

use sim::recovery::{RecoveryQuestion, map_recovery};
use sim::{Class, Control, Discipline, Model, Offered, Outcome, Patience, Plan, Retries, Service};

static GOES_ON: AtomicBool = AtomicBool::new(false);
const CONTROL: Control<'static> = Control { stop: &GOES_ON, tell: &|_| () };

fn run(retries: Option<Retries>) -> Outcome {
    let model = Model { offered: Offered::Load(1.0), threads: 3, retries, ..Model::default() };
    let plan = Plan { requests: 50_000, replications: 8, precision: None, ..Plan::default() };
    sim::run(&model, &plan).unwrap()
}

#[test]
fn what_is_rejected_is_not_lost_while_it_comes_back() {
    let rate = Model::default().rate().unwrap();
    let outcome = run(Some(Retries { share: 0.9, delay: 1.0, backoff: 1.0, most: 20, anew: false }));
    let lost = outcome.lost.unwrap();
    // What is not lost is served.
    assert!((lost.mean - (1.0 - outcome.throughput.mean / rate)).abs() < 0.01, "{outcome:?}");
    assert!(lost.mean < 0.7 * outcome.rejected.mean, "{outcome:?}");
    assert!(outcome.to_string().contains("lost "), "{outcome}");
    // Who never comes back loses what is rejected.
    let never = run(Some(Retries { share: 0.0, delay: 1.0, backoff: 1.0, most: 1, anew: false }));
    assert!((never.lost.unwrap().mean - never.rejected.mean).abs() < 1e-3, "{never:?}");
    assert_eq!(run(None).lost, None);
}

fn impatient(retries: Option<Retries>) -> Model {
    Model {
        offered: Offered::Load(1.1),
        classes: vec![Class::new("all", 1.0, 0.1)],
        service: Service::Exponential,
        threads: 6,
        patience: Some(Patience { mean: 0.25, law: Service::Exponential }),
        retries,
        ..Model::default()
    }
}

#[track_caller]
fn agrees(model: &Model) {
    let exact = sim::exact::solve(model).unwrap();
    assert_eq!(exact.method, sim::exact::Method::Impatient);
    let plan = Plan { requests: 100_000, replications: 12, precision: None, ..Plan::default() };
    let seen = sim::run(model, &plan).unwrap();
    let near = |what: &str, seen: f64, exact: f64| {
        assert!((seen - exact).abs() < 0.015 * exact, "{what}: {seen}, not {exact}");
    };
    near("rejected", seen.rejected.mean, exact.rejected);
    near("lost", seen.lost.unwrap().mean, exact.lost.unwrap());
    assert_eq!(seen.given_up.is_some(), exact.given_up.is_some());
    if let (Some(seen), Some(exact)) = (seen.given_up, exact.given_up) {
        near("given up", seen.mean, exact);
    }
    near("utilization", seen.utilization.mean, exact.utilization);
    near("throughput", seen.throughput.mean, exact.throughput);
    near("present", seen.present.mean, exact.present);
    if model.retries.is_none() {
        near("latency", seen.latency.mean.mean, exact.latency);
    }
}

#[test]
fn clients_that_give_up_are_as_their_chain_says() {
    agrees(&impatient(None));
    let endless = Retries { share: 0.7, delay: 0.5, backoff: 1.0, most: 1_000_000, anew: true };
    agrees(&impatient(Some(endless)));
    agrees(&Model { patience: None, ..impatient(Some(endless)) });
    // Who is rejected is not so for what he needs, so that it may be the same each time; who gives up may be.
    let same = Retries { anew: false, ..endless };
    agrees(&Model { patience: None, ..impatient(Some(same)) });
    assert_eq!(sim::exact::solve(&impatient(Some(same))), Err(sim::exact::ExactError::NoMethod));
}

/// Constant needs in turn: in overload every attempt is too late, so that the server has each request as often as it is
/// tried, and is not rid of its queue where that is more than it can serve.
#[test]
fn overload_keeps_itself_up_where_all_attempts_are_more_than_can_be_served() {
    let model = Model {
        classes: vec![Class::new("all", 1.0, 0.01)],
        service: Service::Constant,
        discipline: Discipline::FirstCome,
        threads: 1,
        queue: Some(400),
        drops: true,
        patience: Some(Patience { mean: 1.0, law: Service::Constant }),
        ..Model::default()
    };
    let question = RecoveryQuestion {
        surge: "3:10s".parse().unwrap(),
        loads: vec![0.1, 0.5],
        retries: vec![0, 1, 3],
        within: units::Span::from_secs(60),
        plan: Plan { replications: 10, ..Plan::default() },
    };
    let map = map_recovery(&model, &question, CONTROL).unwrap();
    for row in &map.rows {
        let all = f64::from(1 + row.retries);
        for trial in &row.trials {
            // Those of the surge ask for so long; then there are four seconds of work, of which one may be left.
            let ends = f64::from(row.retries) + 3.0 / (1.0 - trial.load * all);
            match trial.time {
                Some(time) => assert!((0.8..1.25).contains(&(time.value / ends)), "{ends}: {trial:?}"),
                None => assert!(trial.load * all >= 0.99, "{trial:?}"),
            }
            assert_eq!(trial.in_time_before, 1.0);
        }
        // Beyond that it takes longer than a minute.
        let boundary = row.boundary.unwrap();
        let least = (1.0 - 3.0 / (55.0 - f64::from(row.retries))) / all;
        assert!(
            (least - 0.03..=1.0 / all + 0.01).contains(&boundary.p50),
            "{} retries: {boundary:?}",
            row.retries
        );
        assert!(boundary.p90 <= boundary.p50 && boundary.p50 <= boundary.p10);
    }
    let text = map.to_string();
    assert!(text.contains("never") && text.contains("recovers up to"), "{text}");
    let endless = Model { patience: None, drops: false, ..model };
    let why = map_recovery(&endless, &question, CONTROL).unwrap_err().to_string();
    assert!(why.contains("how long they wait"), "{why}");
}

/// Who is rejected and comes again is one request, not several that were not answered in time.
#[test]
fn a_request_that_comes_again_counts_once() {
    let model = Model {
        classes: vec![Class::new("all", 1.0, 0.01)],
        threads: 1,
        queue: Some(3),
        patience: Some(Patience { mean: 1.0, law: Service::Constant }),
        retries: Some(Retries { share: 1.0, delay: 0.01, backoff: 1.0, most: 1, anew: false }),
        ..Model::default()
    };
    let question = RecoveryQuestion {
        surge: "2:2s".parse().unwrap(),
        loads: vec![0.8],
        retries: vec![3],
        within: units::Span::from_secs(20),
        plan: Plan { replications: 10, ..Plan::default() },
    };
    let map = map_recovery(&model, &question, CONTROL).unwrap();
    let before = map.rows[0].trials[0].in_time_before;
    let steady = Model {
        offered: Offered::Load(0.8),
        retries: Some(Retries { most: 3, ..model.retries.unwrap() }),
        ..model.clone()
    };
    let plan = Plan { requests: 50_000, replications: 8, precision: None, ..Plan::default() };
    let lost = sim::run(&steady, &plan).unwrap().lost.unwrap().mean;
    assert!(lost > 0.02 && (before - (1.0 - lost)).abs() < 0.015, "{lost} are lost: {map:?}");
    let at_once = Model { retries: Some(Retries { delay: 0.0, ..model.retries.unwrap() }), ..model };
    let why = at_once.check().unwrap_err().to_string();
    assert!(why.contains("--retry-delay 1s") && why.contains("--drops"), "{why}");
}
