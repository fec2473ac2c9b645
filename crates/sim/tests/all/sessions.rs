//! The policy in front of a simulated server: the demonstration of `experiments/overload.toml`.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::num::NonZeroU64;
use std::path::Path;

use policy::{Admission, Config, Deadlines, Knobs, Limits, SessionLimits, Window};
use sim::{
    Gate, Host, Plan, Script, Service, SessionClassOutcome, SessionModel, SessionsOutcome, run_sessions,
};
use traffic::{Process, Ramp, Retry, Think, Workload};
use units::{ClassId, Rate, Ratio, Span};

/// Sessions per second that the real server carried. A session burns 100 ms of the only processor in
/// its pages; what is missing to 10 per second is what its nine requests cost besides.
const CAPACITY: f64 = 9.920854;
pub(crate) const REQUEST_COST: Span = Span::from_micros(90);
pub(crate) const GATE_COST: Span = Span::from_micros(110);

pub(crate) fn gate(script: &Script, workload: &Workload, cost: Span) -> Gate {
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
    let longest_retry_after = Span::from_secs(15);
    Gate { policy, limits: SessionLimits::default(), cost, addresses: None, longest_retry_after, classes }
}

/// The demonstration, at so many times capacity; what a request costs the server and the gate besides
/// its page.
pub(crate) fn demonstration(load: f64, gated: bool, (cost, gate_cost): (Span, Span)) -> SessionModel {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/workloads/banking.toml");
    let workload = Workload::read(&file).unwrap();
    let script = Script::new(&workload, |url| match url.strip_prefix("/burn?cpu=") {
        Some(time) => time.parse::<Span>().unwrap() + cost,
        None => cost,
    });
    SessionModel {
        gate: gated.then(|| gate(&script, &workload, gate_cost)),
        script,
        service: Service::Constant,
        host: Host::default(),
        process: Process::Poisson,
        starts: Ramp::steady(Rate::per_second(load * CAPACITY).unwrap(), Span::from_secs(5)),
        warmup: Span::from_millis(2500),
        duration: Span::from_secs(5),
        interval: None,
    }
}

fn simulate(load: f64, gated: bool, cores: usize) -> SessionsOutcome {
    let model = demonstration(load, gated, (REQUEST_COST, GATE_COST));
    let plan =
        Plan { seed: 1, replications: 24, precision: None, cores: cores.try_into().ok(), ..Plan::default() };
    run_sessions(&model, &plan).unwrap()
}

pub(crate) fn classes(outcome: &SessionsOutcome) -> [&SessionClassOutcome; 2] {
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
fn who_would_give_up_is_told_before() {
    // All defaults but the window; the gate has not been told that clients wait for a second.
    let mut model = demonstration(2.0, true, (REQUEST_COST, GATE_COST));
    if let Some(gate) = &mut model.gate {
        gate.policy = Config { window: Window::Fixed(4), ..Config::default() };
    }
    let model = SessionModel { warmup: Span::from_secs(20), duration: Span::from_secs(60), ..model };
    let plan = Plan { seed: 1, replications: 4, precision: None, ..Plan::default() };
    let outcome = run_sessions(&model, &plan).unwrap();
    let [premium, basic] = classes(&outcome);
    assert!(premium.completion.mean >= 0.999, "{premium:?}");
    assert!(basic.timed_out.mean < 0.6 * basic.refused.mean, "{basic:?}");
}

#[test]
fn where_sessions_are_admitted_more_of_them_are_completed() {
    let run = |admission| {
        let mut model = demonstration(3.0, true, (REQUEST_COST, GATE_COST));
        if let Some(gate) = &mut model.gate {
            gate.policy = Config { window: Window::Fixed(4), admission, ..Config::default() };
        }
        let model = SessionModel { warmup: Span::from_secs(60), duration: Span::from_secs(60), ..model };
        let plan = Plan { seed: 1, replications: 4, precision: None, ..Plan::default() };
        run_sessions(&model, &plan).unwrap()
    };
    let outcomes = [Admission::Requests, Admission::Sessions].map(run);
    for outcome in &outcomes {
        assert!(classes(outcome)[0].completion.mean >= 0.999, "{outcome}");
    }
    for outcome in &outcomes {
        assert!((0.99..1.01).contains(&(outcome.bound.mean / CAPACITY)), "{outcome}");
        let reached = outcome.throughput.mean / outcome.bound.mean;
        assert!((outcome.of_bound.mean - reached).abs() < 0.005, "{outcome}");
        let bounds = classes(outcome).map(|class| class.bound.mean);
        // A fifth of three times the capacity is premium, and what is left is a sixth of the rest.
        assert!(bounds[0] == 1.0 && (0.14..0.19).contains(&bounds[1]), "{bounds:?}");
    }
    let [requests, sessions] = outcomes.each_ref().map(|outcome| outcome.throughput.mean / CAPACITY);
    assert!(sessions > 0.94 && sessions > requests + 0.08, "{sessions} and {requests} of the capacity");
}

/// Sessions of forty requests each, of which two are nearly all of the work, at so many times the capacity of which a little less than a
/// third is premium; the gate has its defaults.
fn long_sessions(load: f64) -> SessionModel {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/web2k/workloads/dynamic.toml");
    let mut workload = Workload::read(&file).unwrap();
    let premium = 0.3 / load.max(1.0);
    (workload.classes[0].share, workload.classes[1].share) = (premium, 1.0 - premium);
    let script = Script::new(&workload, |url| match url.strip_prefix("/burn?cpu=") {
        Some(time) => time.parse::<Span>().unwrap() + REQUEST_COST,
        None => REQUEST_COST,
    });
    let gate = gate(&script, &workload, Span::from_micros(60));
    SessionModel {
        gate: Some(Gate { policy: Config::default(), ..gate }),
        script,
        starts: Ramp::steady(Rate::per_second(load * 17.8).unwrap(), Span::from_secs(5)),
        warmup: Span::from_secs(60),
        duration: Span::from_secs(30),
        ..demonstration(load, false, (REQUEST_COST, Span::ZERO))
    }
}

#[test]
fn of_long_sessions_as_many_begin_as_are_finished() {
    for load in [3.0, 10.0] {
        let plan = Plan { seed: 1, replications: 3, precision: None, ..Plan::default() };
        let outcome = run_sessions(&long_sessions(load), &plan).unwrap();
        let [premium, _] = classes(&outcome);
        assert!(premium.completion.mean >= 0.999, "{premium:?}");
        assert!(outcome.of_bound.mean > 0.93, "{outcome}");
    }
}

#[test]
fn below_capacity_the_gate_is_hardly_felt() {
    let plan = Plan { seed: 1, replications: 3, precision: None, ..Plan::default() };
    for (load, most) in [(0.5, 1.5), (0.7, 2.5)] {
        let bare = SessionModel { gate: None, ..long_sessions(load) };
        let [bare, gated] = [bare, long_sessions(load)].map(|model| run_sessions(&model, &plan).unwrap());
        let [[_, bare], [premium, basic]] = [&bare, &gated].map(classes);
        assert!(premium.session.p50.mean < 1.1 * bare.session.p50.mean, "{gated}");
        let slower = basic.session.p50.mean / bare.session.p50.mean;
        assert!(slower < most, "{slower} times as long: {gated}");
        assert_eq!(basic.refused.mean, 0.0, "{gated}");
    }
}

#[test]
fn users_who_share_an_address_are_told_instead_of_waiting_until_they_give_up() {
    for addresses in [1, 4] {
        let mut model = long_sessions(10.0);
        model.gate.as_mut().unwrap().addresses = NonZeroU64::new(addresses);
        let plan = Plan { seed: 1, replications: 3, precision: None, ..Plan::default() };
        let outcome = run_sessions(&model, &plan).unwrap();
        let [premium, basic] = classes(&outcome);
        assert!(premium.completion.mean >= 0.999, "{addresses}: {outcome}");
        assert!(outcome.of_bound.mean > 0.93, "{addresses}: {outcome}");
        assert!(basic.timed_out.mean < 0.1 * basic.refused.mean, "{addresses}: {outcome}");
    }
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

#[test]
fn demands_may_vary_around_their_mean() {
    let run = |service| {
        let model = SessionModel {
            service,
            duration: Span::from_secs(40),
            ..demonstration(0.5, false, (REQUEST_COST, GATE_COST))
        };
        let plan = Plan { replications: 16, precision: None, ..Plan::default() };
        run_sessions(&model, &plan).unwrap()
    };
    let [constant, varied] = [Service::Constant, Service::Exponential].map(run);
    let ratio = varied.utilization.mean / constant.utilization.mean;
    assert!((0.95..1.05).contains(&ratio), "{ratio} times the work");
    for (constant, varied) in classes(&constant).into_iter().zip(classes(&varied)) {
        assert_eq!(constant.started, varied.started);
        assert!(varied.response.p99.mean > 1.5 * constant.response.p99.mean, "{constant:?} {varied:?}");
    }
}

/// Sessions that start, and how long those completed take, in a short test of `seed`.
fn short(seed: u64, replications: u32, policy_seed: u64) -> [f64; 2] {
    let mut model = demonstration(3.0, true, (REQUEST_COST, GATE_COST));
    if let Some(gate) = &mut model.gate {
        gate.policy.seed = policy_seed;
    }
    let plan = Plan { seed, replications, precision: None, ..Plan::default() };
    let outcome = run_sessions(&model, &plan).unwrap();
    let mean = |value: fn(&SessionClassOutcome) -> f64| outcome.classes.iter().map(value).sum();
    [mean(|class| class.started.mean), mean(|class| class.session.mean.mean)]
}

#[test]
fn seeds_have_no_replication_in_common() {
    let [first, both, next] = [short(1, 1, 1), short(1, 2, 1), short(2, 1, 1)];
    for (what, first, both, next) in
        [("started", first[0], both[0], next[0]), ("took", first[1], both[1], next[1])]
    {
        assert!((2.0 * both - first - next).abs() > 1e-6, "{what}: {first} and {next} make {both}");
    }
}

#[test]
fn the_policy_draws_by_both_seeds() {
    let [one, other] = [1, 2].map(|policy_seed| short(1, 4, policy_seed));
    assert_eq!(one[0], other[0], "the same sessions start");
    assert!((one[1] - other[1]).abs() > 1e-9, "they fare alike: {one:?}");
}

/// What `headworks lab run experiments/overload.toml --set 'factor=[{name="load",levels=[3]}]' --set
/// test.duration=60s --set capacity.duration=20s --set capacity.concurrency=16` counted on a quiet
/// machine (docs/sim.md).
struct Recorded {
    /// What a request costs besides its page, by the capacity that the run found: a session of nine
    /// requests burns 100 ms in its pages.
    cost: Span,
    /// Sessions that started: premium, basic.
    started: [f64; 2],
    /// Of these, those that the bare server completed.
    bare: [f64; 2],
    gated: [f64; 2],
}

const RECORDED: [Recorded; 2] = [
    Recorded {
        cost: Span::from_nanos(281_957),
        started: [352.0, 1364.0],
        bare: [117.0, 477.0],
        gated: [352.0, 129.0],
    },
    Recorded {
        cost: Span::from_nanos(182_459),
        started: [357.0, 1379.0],
        bare: [118.0, 476.0],
        gated: [357.0, 110.0],
    },
];

/// Processor time of the gate's process over the requests that it passed on, from an earlier run.
const RECORDED_GATE_COST: Span = Span::from_micros(178);
/// What the lab gave the generator for its only level.
const RECORDED_SEED: u64 = 1002;

#[test]
fn it_agrees_with_the_demonstration_on_a_real_server() {
    let plan = Plan { seed: RECORDED_SEED, replications: 1, precision: None, ..Plan::default() };
    for gated in [false, true] {
        // Who gets in at the edge of a timeout is a matter of microseconds: each run's arrivals meet the
        // costs of both.
        let (mut real, mut simulated) = ([0.0; 2], [0.0; 2]);
        for run in RECORDED {
            let capacity = (0.1 + 9.0 * run.cost.as_secs_f64()).recip();
            for cost in RECORDED.map(|run| run.cost) {
                let mut model = SessionModel {
                    starts: Ramp::steady(Rate::per_second(3.0 * capacity).unwrap(), Span::from_secs(5)),
                    duration: Span::from_secs(60),
                    ..demonstration(3.0, gated, (cost, RECORDED_GATE_COST))
                };
                if let Some(gate) = &mut model.gate {
                    // As it did when this was recorded.
                    gate.policy.admission = Admission::Requests;
                }
                let outcome = run_sessions(&model, &plan).unwrap();
                let classes = classes(&outcome);
                assert_eq!(classes.map(|class| class.started.mean), run.started);
                let completed = if gated { run.gated } else { run.bare };
                for (index, completed) in completed.into_iter().enumerate() {
                    real[index] += completed;
                    simulated[index] += classes[index].completed.mean;
                }
            }
        }
        for ((class, simulated), real) in ["premium", "basic"].into_iter().zip(simulated).zip(real) {
            let ratio = simulated / real;
            assert!((0.9..1.1).contains(&ratio), "gate {gated}, {class}: {ratio} times as many");
        }
    }
}

/// A surge to five times the capacity for ten seconds, of users who ask again three times, at once or after longer and longer pauses.
fn surge(retry: Option<Retry>, gated: bool) -> SessionsOutcome {
    let mut model = demonstration(0.5, gated, (REQUEST_COST, GATE_COST));
    if let Some(gate) = &mut model.gate {
        gate.policy = Config::default();
    }
    model.script.set_retry(retry);
    let half = 0.5 * CAPACITY;
    let starts: Ramp = format!("{half}:20s,{}:10s,{half}:30s", 10.0 * half).parse().unwrap();
    let interval = Some(Span::from_millis(250));
    let model = SessionModel {
        starts,
        interval,
        warmup: Span::from_secs(20),
        duration: Span::from_secs(60),
        ..model
    };
    let plan = Plan { seed: 1, replications: 8, precision: None, ..Plan::default() };
    run_sessions(&model, &plan).unwrap()
}

#[test]
fn users_who_ask_again_do_not_keep_the_server_in_overload() {
    let pause = Think::exponential(Span::from_millis(200));
    let at_once = Retry { times: 3, pause: Think::default(), backoff: 1.0, heeds_retry_after: false };
    let backing_off = Retry { pause, backoff: 2.0, ..at_once };
    let completed_later = |outcome: &SessionsOutcome, class: &str| {
        let later = outcome.intervals.iter().filter(|it| it.class == class && it.from >= 32.0);
        let (started, completed) =
            later.fold((0.0, 0.0), |sum, it| (sum.0 + it.started, sum.1 + it.completed));
        completed / started
    };
    for retry in [None, Some(at_once), Some(backing_off)] {
        let outcome = surge(retry, true);
        assert_eq!(outcome.levels.len(), 3);
        let all = completed_later(&outcome, "basic").min(completed_later(&outcome, "premium"));
        assert!(all > 0.99, "{retry:?}: {all} completed from 2 s after the surge on");
        assert_eq!(outcome.classes[1].retried.mean > 100.0, retry.is_some(), "{outcome}");
        let premium: f64 =
            outcome.levels.iter().map(|level| level.classes[0].completion.mean).fold(1.0, f64::min);
        assert!(premium > 0.97, "{outcome}");
    }
    // Without the gate they do.
    let bare = completed_later(&surge(Some(backing_off), false), "basic");
    assert!(bare < 0.9, "{bare}");
}
