//! The course of a replication against what the replication is summed up to.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use catalogue::sim::{LATENCY, WAITING};
use record::{RunDirectory, SampleRow};
use serde::Deserialize;
use sim::{Discipline, Equipment, Interval, Model, Offered, Plan, Recording, Size, TimeSeries};
use units::Span;

/// One replication without a warm-up, which fills its intervals.
const PLAN: fn() -> Plan =
    || Plan { requests: 40_000, warmup: Some(0), replications: 1, precision: None, ..Plan::default() };

fn bursts() -> Model {
    Model { arrivals: "h2:3".parse().unwrap(), queue: Some(30), ..Model::default() }
}

/// The mean over time.
fn mean(series: &TimeSeries, value: impl Fn(&Interval) -> f64) -> f64 {
    let over = |value: &dyn Fn(&Interval) -> f64| -> f64 { series.intervals.iter().map(value).sum() };
    over(&|interval| value(interval) * interval.elapsed()) / over(&Interval::elapsed)
}

#[track_caller]
fn check_agrees(model: &Model) {
    let (outcome, series) = (sim::run(model, &PLAN()).unwrap(), sim::time_series(model, &PLAN()).unwrap());
    let near = |what: &str, one: f64, other: f64| {
        assert!((one - other).abs() <= 1e-9 * other.abs(), "{what}: {one}, and in all {other}");
    };
    let present = mean(&series, |interval| interval.waiting.mean + interval.in_service.mean);
    near("present", present, outcome.present.mean);
    near("utilization", mean(&series, |interval| interval.utilization), outcome.utilization.mean);
    let sum = |value: fn(&Interval) -> f64| series.intervals.iter().map(value).sum::<f64>();
    let (arrived, rejected) = (sum(|one| one.arrived as f64), sum(|one| one.rejected as f64));
    near("rejected", rejected / arrived, outcome.rejected.mean);
    let served = |one: &Interval| one.classes.iter().map(|class| class.served as f64).sum::<f64>();
    let weighted = |one: &Interval| if served(one) > 0.0 { one.latency() * served(one) } else { 0.0 };
    let latency = series.intervals.iter().map(weighted).sum::<f64>();
    near("latency", latency / series.intervals.iter().map(served).sum::<f64>(), outcome.latency.mean.mean);
    assert_eq!(series.intervals.len(), 400);
    assert!(series.intervals.windows(2).all(|pair| pair[0].ended == pair[1].began));
}

#[test]
fn intervals_add_up_to_the_replication() {
    check_agrees(&bursts());
    check_agrees(&Model { discipline: Discipline::FirstCome, processors: 2, ..bursts() });
    let clients = Model { offered: Offered::Clients(60, 5.0), queue: Some(10), ..Model::default() };
    check_agrees(&clients);
    let kept = Equipment { keep_alive: Some(0.5), client: Some(1e5), ..Equipment::default() };
    let mut slow = Model { equipment: kept, ..bursts() };
    slow.classes.iter_mut().for_each(|class| class.size = Some(Size { mean: 1e4, cv: 1.0 }));
    check_agrees(&slow);
}

#[test]
fn nobody_waits_while_a_thread_is_free() {
    let series = sim::time_series(&bursts(), &PLAN()).unwrap();
    for one in &series.intervals {
        for range in [one.waiting, one.in_service] {
            let (least, most) = (range.least as f64 - 1e-9, range.most as f64 + 1e-9);
            assert!((least..=most).contains(&range.mean), "{one:?}");
        }
        assert!(one.waiting.most <= 30 && one.in_service.most <= 25, "{one:?}");
        assert!(one.waiting.most == 0 || one.in_service.most == 25, "{one:?}");
        assert!(one.rejected == 0 || one.waiting.most == 30, "{one:?}");
    }
    assert!(series.intervals.iter().any(|one| one.rejected > 0));
    assert!(series.intervals.iter().any(|one| one.waiting.most == 0));
}

#[test]
fn the_same_seed_gives_the_same_course_and_the_warm_up_is_part_of_it() {
    let plan = Plan { warmup: Some(10_000), ..PLAN() };
    let series = sim::time_series(&bursts(), &plan).unwrap();
    assert_eq!(series, sim::time_series(&bursts(), &plan).unwrap());
    assert_ne!(series, sim::time_series(&bursts(), &Plan { seed: 2, ..plan }).unwrap());
    // Its replication has ten times as many requests.
    let arrived = |one: &Interval| one.arrived;
    assert_eq!(series.intervals.iter().map(arrived).sum::<u64>(), 110_000);
    let before = series.intervals.iter().filter(|one| one.ended <= series.warmup);
    assert_eq!(before.map(arrived).sum::<u64>(), 9_900);
    assert_eq!(sim::time_series(&bursts(), &PLAN()).unwrap().warmup, 0.0);
}

#[derive(Deserialize)]
struct Kept {
    rejected: Mean,
}

#[derive(Deserialize)]
struct Mean {
    mean: f64,
}

#[test]
fn a_record_has_the_course_and_the_model_that_it_came_from() {
    let scratch = tempfile::tempdir().unwrap();
    let times = [0.0, 0.1, 0.5, 0.6, 0.65, 2.0, 2.5, 4.0];
    let model = Model { arrivals: sim::Arrivals::Observed(sim::Observed::new(&times).unwrap()), ..bursts() };
    let (outcome, series) = (sim::run(&model, &PLAN()).unwrap(), sim::time_series(&model, &PLAN()).unwrap());
    let out = scratch.path().join("run");
    let begin = || Recording::begin(out.clone(), vec!["headworks".to_owned()], &model, &PLAN());
    let beginning = sim::time_series(&model, &Plan { requests: 1000, ..PLAN() }).unwrap();
    begin().unwrap().finish(&outcome, &series, &beginning).unwrap();
    assert!(begin().unwrap_err().to_string().contains("already holds a run"));

    let run = RunDirectory::open(&out).unwrap();
    let info = run.info().unwrap();
    assert!(info.tool == "sim" && info.ended.is_some() && info.seed == 1);
    let last = series.intervals.last().unwrap();
    assert_eq!(info.window.length(), Span::from_secs_f64(last.ended));
    let rows: Vec<SampleRow> = run.samples().unwrap().map(Result::unwrap).collect();
    let waiting = |label: &str| -> Vec<f64> {
        let rows = rows.iter().filter(|row| row.metric == WAITING && &*row.label == label);
        rows.map(|row| row.value).collect()
    };
    let means =
        |series: &TimeSeries| series.intervals.iter().map(|one| one.waiting.mean).collect::<Vec<f64>>();
    assert_eq!((waiting(""), waiting("beginning")), (means(&series), means(&beginning)));
    assert!(rows.iter().any(|row| &*row.label == "dynamic" && row.metric == LATENCY));
    assert_eq!(run.outcome::<Kept>().unwrap().rejected.mean, outcome.rejected.mean);

    let again = Model::read(&out.join("model.toml")).unwrap();
    let again = sim::run(&again, &PLAN()).unwrap();
    assert!((again.rejected.mean / outcome.rejected.mean - 1.0).abs() < 0.01, "{again:?}, not {outcome:?}");
}
