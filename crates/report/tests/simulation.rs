//! Reports of sweeps: what is checked follows from the points.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use record::sweep::{PointRow, Sweep, SweepDirectory};
use report::{Document, SimulationReport};

fn row(point: u32, threads: u32, rejected: f64, latency: f64) -> PointRow {
    PointRow {
        point,
        curve: "".into(),
        x: f64::from(threads),
        load: 1.0,
        arrivals: "h2:4".into(),
        dynamic: 0.2,
        dynamic_cost: 100.0,
        static_time: 0.005,
        service: "gamma:0.6".into(),
        threads,
        queue: Some(120),
        discipline: "ps".into(),
        processors: 1,
        seed: 1,
        replications: 8,
        warmup: 10,
        requests: 1000,
        events: 8000,
        precise: point != 1,
        rejected,
        rejected_low: rejected * 0.9,
        rejected_high: rejected * 1.1,
        latency,
        latency_low: latency * 0.9,
        latency_high: latency * 1.1,
        p50: latency,
        p50_low: latency,
        p50_high: latency,
        p90: latency * 2.0,
        p90_low: latency * 1.9,
        p90_high: latency * 2.1,
        p99: latency * 4.0,
        p99_low: latency * 4.0,
        p99_high: latency * 4.0,
        utilization: 0.95,
        utilization_low: 0.95,
        utilization_high: 0.95,
        throughput: 9.0,
        throughput_low: 9.0,
        throughput_high: 9.0,
        present: 30.0,
        present_low: 30.0,
        present_high: 30.0,
    }
}

fn write(directory: &Path, rejected: [f64; 2], written: usize) -> SweepDirectory {
    let sweep = Sweep {
        title: "The number of threads".to_owned(),
        version: "0.0.0".to_owned(),
        quick: true,
        parameter: "threads".to_owned(),
        curves: vec![String::new()],
        figures: Vec::new(),
        points: vec!["a".to_owned(), "b".to_owned()],
        networks: None,
    };
    let sweep = SweepDirectory::begin(directory.join("threads"), &sweep, "# spec").unwrap();
    let rows = [row(0, 5, rejected[0], 2.0), row(1, 50, rejected[1], 3.0)];
    rows.into_iter().take(written).for_each(|row| sweep.write_point(row).unwrap());
    sweep
}

fn holds(rejected: [f64; 2]) -> (bool, String) {
    let scratch = tempfile::tempdir().unwrap();
    write(scratch.path(), rejected, 2);
    let report = SimulationReport::read(scratch.path()).unwrap();
    let [check] = &report.checks[..] else { panic!("{:?}", report.checks) };
    (check.holds, check.evidence.clone())
}

#[test]
fn a_statement_holds_or_does_not_by_the_points() {
    let (different, evidence) = holds([0.067, 0.035]);
    assert!(!different && evidence.contains("6.70 % rejected with 5 threads, 3.50 % with 50"), "{evidence}");
    assert!(holds([0.0520, 0.0500]).0);
}

#[test]
fn what_is_missing_or_vague_is_said_and_not_judged() {
    let scratch = tempfile::tempdir().unwrap();
    write(scratch.path(), [0.05, 0.05], 1);
    let report = SimulationReport::read(scratch.path()).unwrap();
    assert!(report.checks.is_empty());
    assert!(report.warnings[0].contains("1 points have not been simulated"), "{:?}", report.warnings);
    write(scratch.path(), [0.05, 0.05], 2);
    let report = SimulationReport::read(scratch.path()).unwrap();
    assert!(report.warnings[0].contains("1 points are not as precise"), "{:?}", report.warnings);
}

#[test]
fn a_single_sweep_has_its_four_figures_in_page_and_terminal() {
    let scratch = tempfile::tempdir().unwrap();
    let sweep = write(scratch.path(), [0.067, 0.035], 2);
    let document = Document::read(sweep.path()).unwrap();
    let table = document.table();
    assert!(!table.contains("holds") && table.contains("How many requests are rejected?"), "{table}");
    let page = std::fs::read_to_string(document.write(sweep.path()).unwrap()).unwrap();
    assert!(page.contains(r#""kind":"simulation""#) && page.contains("What do rejections buy?"));
    let report = SimulationReport::read(sweep.path()).unwrap();
    let [rejected, latency, _, trade_off] = &report.figures[..] else { panic!("{:?}", report.figures) };
    let points = |figure: &report::Figure| -> Vec<(f64, f64)> {
        figure.curves[0].points.iter().map(|place| (place.x, place.y.value)).collect()
    };
    assert_eq!(points(rejected), [(5.0, 0.067), (50.0, 0.035)]);
    assert_eq!(points(latency), [(5.0, 2.0), (50.0, 3.0)]);
    assert_eq!(points(trade_off), [(0.035, 3.0), (0.067, 2.0)]);
}
