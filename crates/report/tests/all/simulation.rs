//! Reports of sweeps: what is checked follows from the points. And of a single simulation.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::fixture::simulated;
use crate::fixture::sweep::write;
use report::{Document, SimulationReport};

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

#[test]
fn a_single_simulation_has_its_outcome_and_its_course() {
    let scratch = tempfile::tempdir().unwrap();
    simulated::write(scratch.path());
    let document = Document::read(scratch.path()).unwrap();
    let table = document.table();
    assert!(table.contains("6.7 % of the requests are rejected; the others take 2.31 s"), "{table}");
    assert!(table.contains("h2:3 at load 1, 25 threads, a queue of 66, one processor (ps)"), "{table}");
    assert!(table.contains("known to 1.3 %"), "{table}");
    let report = SimulationReport::read(scratch.path()).unwrap();
    let rejected = &report.verdict.figures[0];
    assert_eq!((rejected.value.as_str(), rejected.note.as_str()), ("6.710 %", "± 0.060 %"));
    let [all, _, dynamic] = &report.outcomes[..] else { panic!("{:?}", report.outcomes) };
    assert_eq!(all.mean.unwrap().ci, Some([2.29, 2.334]));
    assert!(dynamic.p99.is_none() && dynamic.p90.is_some());
    let course = report.course.unwrap();
    assert_eq!((course.ends.len(), course.arrivals, course.warmup), (120, 600, 750.0));
    let queue = &course.figures[0].charts[0].lines[0];
    assert_eq!((queue.values[60], queue.ranges[60]), (Some(60.0), Some([18.0, 66.0])));
    let beginning = &course.figures[1];
    assert!(beginning.beginning && course.beginning.len() == 60);
    assert_eq!(beginning.charts[1].lines[0].values[30], Some(10.0));
    let latency = &course.figures[4];
    assert_eq!(latency.logarithmic, Some(true));
    let names: Vec<&str> = latency.charts[0].lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["static", "dynamic"]);
    assert_eq!(latency.charts[0].lines[1].values[0], Some(6.0));
    assert_eq!(report.sources[0].name, "model.toml");
}

#[test]
fn a_simulation_that_did_not_come_to_rest_says_so_and_one_without_a_queue_has_no_plot_of_it() {
    let scratch = tempfile::tempdir().unwrap();
    simulated::write(scratch.path());
    let run = record::RunDirectory::open(scratch.path()).unwrap();
    let mut outcome: serde_json::Value = run.outcome().unwrap();
    outcome["precision"] = serde_json::json!({"state": "unsettled", "requests": 51_200_000});
    run.write_outcome(&outcome).unwrap();
    let rows: Vec<_> = run.samples().unwrap().map(Result::unwrap).collect();
    std::fs::remove_file(scratch.path().join("samples.parquet")).unwrap();
    let mut samples = run.write_samples().unwrap();
    for row in rows.into_iter().filter(|row| !row.metric.as_str().starts_with("waiting")) {
        samples.push(row).unwrap();
    }
    samples.finish().unwrap();
    let report = SimulationReport::read(scratch.path()).unwrap();
    assert!(report.warnings[0].contains("51200000 requests did not come to rest"), "{:?}", report.warnings);
    let ids: Vec<String> = report.course.unwrap().figures.into_iter().map(|figure| figure.id).collect();
    assert_eq!(ids, ["beginning", "work", "arrivals", "latency"]);
}

#[test]
fn an_axis_over_which_values_spread_far_is_logarithmic() {
    let scratch = tempfile::tempdir().unwrap();
    let axes = |rejected| {
        let sweep = write(&scratch.path().join(format!("{rejected}")), [rejected, 0.05], 2);
        let figures = SimulationReport::read(sweep.path()).unwrap().figures;
        figures.iter().map(|figure| (figure.x.logarithmic, figure.y.logarithmic)).collect::<Vec<_>>()
    };
    let all = [(false, false); 4];
    assert_eq!(axes(0.067), all);
    assert_eq!(axes(0.0005), [(false, true), (false, false), (false, false), (true, false)]);
    assert_eq!(axes(0.0), all, "zero has no place on it");
}
