//! Servers behind a load balancer, and how many it takes.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::atomic::AtomicBool;

use sim::planner::{Balancings, Profile, Question, plan_capacity};
use sim::{Balancing, Class, Control, Discipline, Fleet, Model, Offered, Outcome, Plan, Service, exact};
use units::Span;

const PLAN: Plan = Plan {
    seed: 1,
    requests: 100_000,
    warmup: None,
    replications: 16,
    precision: None,
    rejections: None,
    long_run: false,
    cores: None,
};

/// Exponential needs of 10 ms, first come, first served, by so many servers of one processor.
fn model(servers: u32, balancing: Balancing, rate: f64) -> Model {
    Model {
        classes: vec![Class::new("all", 1.0, 0.01)],
        service: Service::Exponential,
        discipline: Discipline::FirstCome,
        threads: 1,
        queue: None,
        offered: Offered::Rate(rate),
        fleet: Fleet { servers, balancing },
        ..Model::default()
    }
}

fn run(model: &Model) -> Outcome {
    sim::run(model, &PLAN).unwrap()
}

/// By chance each of them gets Poisson arrivals of its own.
#[test]
fn servers_that_chance_chooses_between_are_servers_by_themselves() {
    let fleet = run(&model(4, Balancing::Random, 320.0));
    let alone = exact::solve(&model(1, Balancing::Random, 80.0)).unwrap();
    assert!((fleet.latency.mean.mean / alone.latency - 1.0).abs() < 0.03, "{fleet} {alone}");
    assert!((fleet.utilization.mean - 0.8).abs() < 0.01, "{fleet}");
}

/// No choice is better than one queue for all servers (M/M/c), and who knows more of them chooses better.
#[test]
fn a_better_choice_waits_less() {
    let means: Vec<f64> =
        [Balancing::Random, Balancing::RoundRobin, Balancing::PowerOfTwo, Balancing::LeastConnections]
            .map(|balancing| run(&model(8, balancing, 720.0)).latency.mean.mean)
            .into();
    let one_queue = Model { processors: 8, threads: 8, ..model(1, Balancing::Random, 720.0) };
    let best = exact::solve(&one_queue).unwrap().latency;
    assert!(means.is_sorted_by(|one, next| one > next), "{means:?}");
    assert!(*means.last().unwrap() > best, "{means:?}, {best}");
    // With eight servers at 0.9 of what they can do, choosing between two leaves a third of the time, and less.
    assert!(means[2] < means[0] / 3.0, "{means:?}");
}

fn question(objective: &str) -> Question {
    Question {
        objectives: vec![objective.parse().unwrap()],
        spare: 1,
        balancing: Balancings::One(Balancing::Random),
        most: 64,
        profile: None,
        scaling_delay: Span::ZERO,
        plan: PLAN,
    }
}

static STOP: AtomicBool = AtomicBool::new(false);

fn control() -> Control<'static> {
    Control { stop: &STOP, tell: &|_| () }
}

#[test]
fn the_smallest_fleet_is_found() {
    let control = control();
    // Each an M/M/1: a mean of 40 ms at 75 requests per second, so that 600 need eight, and nine for less than 39 ms.
    for (objective, servers) in [("mean<41ms", 8), ("mean<39ms", 9)] {
        let plan = plan_capacity(&model(1, Balancing::Random, 600.0), &question(objective), control).unwrap();
        let found = plan.found.as_ref().unwrap();
        assert_eq!(found.servers, servers, "{plan}");
        assert!(plan.to_string().contains(&format!("{} servers with 1 to spare", servers + 1)), "{plan}");
        // One queue before all processors: seven are enough (M/M/7 at 600/s has a mean of 17.5 ms; six are too few for any).
        assert_eq!(plan.one.as_ref().unwrap().processors, 7, "{plan}");
    }
    let none = plan_capacity(&model(1, Balancing::Random, 600.0), &question("mean<9ms"), control).unwrap();
    assert!(none.found.is_none() && none.to_string().contains("No number of servers"), "{none}");
}

#[test]
fn servers_follow_a_profile() {
    let control = control();
    let profile: Profile = "75:8h,600:4h,300:12h".parse().unwrap();
    let question =
        Question { profile: Some(profile), scaling_delay: Span::from_secs(300), ..question("mean<41ms") };
    let plan = plan_capacity(&model(1, Balancing::Random, 75.0), &question, control).unwrap();
    let levels: Vec<_> = plan.profile.iter().map(|level| (level.needed, level.asked_for)).collect();
    // What is asked for in the first step has to be there when the second begins; one is to spare.
    assert_eq!(levels, [(Some(1), Some(9)), (Some(8), Some(9)), (Some(4), Some(5))], "{plan}");
}
