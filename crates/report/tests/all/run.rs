//! The directory of a single run to figures, page and table.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "the fixture is shared")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::fixture::run::{answered, at, info, ramp, unconnected};
use record::{RequestError, RequestRow, Step, Timestamp, Window};
use report::{Counted, Distribution, Document, Error, RunReport};
use units::Span;

const WINDOW: Window = Window { from_ns: 1_000_000_000, to_ns: 5_000_000_000 };

fn report_of(rows: &[RequestRow]) -> RunReport {
    report_with(rows, vec![])
}

fn report_with(rows: &[RequestRow], steps: Vec<Step>) -> RunReport {
    let directory = tempfile::tempdir().unwrap();
    crate::fixture::run::write(directory.path(), &info(WINDOW, steps), rows);
    RunReport::read(directory.path()).unwrap()
}

fn phase<'a>(report: &'a RunReport, name: &str) -> &'a Distribution {
    report.distributions.iter().find(|distribution| distribution.phase.name() == name).unwrap()
}

fn step(from: u64, to: u64, level: f64) -> Step {
    Step { from_ns: at(from).as_nanos(), to_ns: at(to).as_nanos(), level }
}

fn close(measured: f64, wanted: f64) -> bool {
    (measured / wanted - 1.0).abs() < 0.011
}

#[test]
fn phases_are_those_of_the_summary() {
    let (info, rows) = ramp();
    let directory = tempfile::tempdir().unwrap();
    crate::fixture::run::write(directory.path(), &info, &rows);
    let report = RunReport::read(directory.path()).unwrap();
    assert!(rows.len() > 8192, "more than one group of rows");
    let latency = &report.summary.latency;
    assert_eq!(phase(&report, "total").quantiles, latency.total);
    assert_eq!(phase(&report, "connect").quantiles, latency.connect);
    assert_eq!(phase(&report, "processing").quantiles, latency.processing);
    assert_eq!(phase(&report, "transfer").quantiles, latency.transfer);
    assert_eq!(phase(&report, "server").quantiles.count, rows.len() as u64);
    assert!(report.contradictions.is_empty(), "{:?}", report.contradictions);
    assert_eq!(report.counters, [("ListenOverflows".to_owned(), 42)]);
}

#[test]
fn what_counts_is_what_was_due_in_the_window() {
    let reused = RequestRow { reused: true, connect_ns: Span::ZERO, ..answered(2000) };
    let reset = RequestRow { error: Some(RequestError::Reset), ..answered(2100) };
    let report = report_of(&[
        answered(500),
        answered(1000),
        answered(4999),
        reused,
        reset,
        unconnected(1500, Span::from_secs(2), 1),
        answered(5000),
    ]);
    assert_eq!(phase(&report, "total").quantiles.count, 4, "not the reset one, whose latency is unknown");
    assert_eq!(phase(&report, "connect").quantiles.count, 3, "not the one on an open connection");
    assert_eq!(phase(&report, "connect").quantiles.max, 2.0, "a lower bound counts");
    assert_eq!(phase(&report, "processing").quantiles.count, 3);
    assert!(!report.distributions.iter().any(|distribution| distribution.phase.name() == "server"));
    assert_eq!(report.urls.rows[0].count, 5);
    assert_eq!(report.urls.rows[0].failed, 2);
    assert_eq!(report.sizes.iter().map(|field| field.count).sum::<u64>(), 3);
}

#[test]
fn every_request_is_in_its_stretch_of_time() {
    let report = report_of(&[
        answered(50),
        answered(1010),
        answered(1020),
        RequestRow { started: at(1420), ..answered(1130) },
        unconnected(1500, Span::from_secs(2), 1),
    ]);
    let timeline = &report.timeline;
    assert_eq!(timeline.width, 0.1, "a run of six seconds");
    assert_eq!(timeline.due.len(), 60);
    let per_second = |rates: &[f64], tenth: usize| rates[tenth] * timeline.width;
    assert!(close(per_second(&timeline.due, 10), 2.0), "{:?}", timeline.due);
    assert!(close(per_second(&timeline.due, 11), 1.0) && close(per_second(&timeline.begun, 14), 1.0));
    assert!(close(per_second(&timeline.answered, 10), 2.0), "{:?}", timeline.answered);
    assert!(close(per_second(&timeline.opened, 0), 1.0));
    assert!(close(per_second(&timeline.syn_retransmits, 35), 1.0), "{:?}", timeline.syn_retransmits);
    assert!(close(per_second(&timeline.connect_timeouts, 35), 1.0));
    assert!(close(per_second(&timeline.errors, 35), 1.0) && timeline.answered[35] == 0.0);
    assert_eq!(timeline.opened.iter().sum::<f64>().round(), 40.0, "four in tenths of a second");

    assert!(close(timeline.total.p99[10].unwrap(), 0.013), "{:?}", timeline.total.p99);
    assert!(close(timeline.lag.p50[11].unwrap(), 0.29) && close(timeline.total.p50[11].unwrap(), 0.303));
    assert!(close(timeline.connect.p50[15].unwrap(), 2.0) && timeline.processing.p50[15].is_none());
    assert_eq!(timeline.total.p50[20], None);
    assert_eq!((timeline.cpu[8], timeline.cpu[9]), (None, Some(0.055)));
    assert_eq!(timeline.running[19], Some(2.0));
}

#[test]
fn a_stretch_that_the_end_cut_short_has_the_rate_of_the_time_it_had() {
    let directory = tempfile::tempdir().unwrap();
    let mut info = info(WINDOW, vec![]);
    info.ended = info.ended.map(|end| Timestamp::from_nanosecond(end.as_nanosecond() + 50_000_000).unwrap());
    crate::fixture::run::write(directory.path(), &info, &[answered(5000), answered(6020)]);
    let timeline = RunReport::read(directory.path()).unwrap().timeline;
    assert_eq!((timeline.width, timeline.due.len()), (0.1, 61));
    assert_eq!((timeline.due[50], timeline.due[60]), (10.0, 20.0));
}

#[test]
fn steps_have_the_figures_of_the_paper() {
    let slow = |millis: u64, server: u64| RequestRow {
        connect_ns: Span::from_millis(3),
        processing_ns: Some(Span::from_millis(30)),
        server_ns: Some(Span::from_millis(server)),
        syn_retransmits: u32::from(server == 4),
        ..answered(millis)
    };
    let steps = vec![step(1000, 2000, 10.0), step(2000, 4000, 20.0), step(4000, 5000, 10.0)];
    let report = report_with(
        &[
            answered(1200),
            slow(2000, 4),
            slow(2500, 6),
            RequestRow { reused: true, connect_ns: Span::ZERO, ..answered(3999) },
            answered(4000),
            RequestRow { bytes: 0, status: None, error: Some(RequestError::Reset), ..answered(4500) },
        ],
        steps,
    );
    let steps = &report.steps;
    assert_eq!((steps.ramp, &*steps.unit, steps.held.len()), (true, "clients", 3));
    let [low, high] = &steps.rows[..] else { panic!("two levels, not {:?}", steps.rows) };
    assert_eq!((low.level, low.seconds, low.requests, low.responses), (10.0, 2.0, 3, 2));
    // The one that was due at 3999 ms was answered in the step after it.
    assert_eq!((low.offered, low.achieved), (1.5, 1.5), "steps of one level are one");
    let each: Vec<_> = steps.each.iter().map(|step| (step.level, step.seconds, step.requests)).collect();
    assert_eq!(each, [(10.0, 1.0, 1), (20.0, 2.0, 3), (10.0, 1.0, 2)], "and each by itself");
    assert_eq!(high.achieved, 1.0);
    assert_eq!((high.requests, high.connections, high.timed_out), (3, 2, 1));
    assert_eq!(high.timeouts.unwrap().value, 0.5);
    let mean = |phase: &report::StepPhase| phase.mean.unwrap().value;
    assert!(close(mean(&high.connect), 0.003) && close(mean(&low.connect), 0.001));
    assert!(close(mean(&high.processing), 0.070 / 3.0), "{:?}", high.processing);
    assert!(close(mean(&high.server), 0.005) && low.server.mean.is_none());
    assert!(close(mean(&high.transfer), 0.002));
    assert_eq!(
        report.verdict.headline,
        "From 10 to 20 clients the mean response time went from 13.0 ms to 27.3 ms"
    );
}

#[test]
fn without_a_ramp_there_is_one_row_at_the_load_that_was_asked_for() {
    let report = report_of(&[answered(1200), answered(3000)]);
    assert!(!report.steps.ramp && report.steps.each.is_empty());
    assert_eq!(report.steps.unit, "clients");
    let [only] = &report.steps.rows[..] else { panic!("one row, not {:?}", report.steps.rows) };
    assert_eq!((only.level, only.seconds, only.requests, only.achieved), (50.0, 4.0, 2, 0.5));
    assert_eq!(
        report.verdict.headline,
        "0.500 requests per second answered; 99 % of requests took 13.0 ms or less"
    );
}

#[test]
fn the_most_frequent_urls_are_shown_in_order() {
    let url = |millis: u64, url: &str| RequestRow { url_class: Arc::from(url), ..answered(millis) };
    let mut rows: Vec<RequestRow> = (0..40).map(|i| url(1000 + i, &format!("/rare-{i:02}"))).collect();
    rows.extend((0..3).map(|i| url(2000 + i, "/third")));
    rows.extend((0..5).map(|i| RequestRow { bytes: 100 * i, ..url(2100 + i, "/first") }));
    rows.push(RequestRow { status: Some(404), ..url(2200, "/first") });
    rows.extend((0..4).map(|i| url(500 + i, "/before-the-window")));
    let urls = report_of(&rows).urls;
    assert_eq!((urls.distinct, urls.complete, urls.rows.len()), (42, true, 20));
    let names: Vec<&str> = urls.rows.iter().map(|row| &*row.url).take(4).collect();
    assert_eq!(names, ["/first", "/third", "/rare-00", "/rare-01"]);
    let first = &urls.rows[0];
    assert_eq!((first.count, first.failed, first.bytes), (6, 1, Some(2000.0 / 6.0)));
    assert!(close(first.total.p50, 0.013) && first.processing.count == 6);
}

#[test]
fn sizes_are_thinned_out_and_none_is_lost() {
    let (info, rows) = ramp();
    let directory = tempfile::tempdir().unwrap();
    crate::fixture::run::write(directory.path(), &info, &rows);
    let sizes = RunReport::read(directory.path()).unwrap().sizes;
    assert_eq!(sizes.iter().map(|field| field.count).sum::<u64>(), rows.len() as u64);
    assert!(sizes.len() < 1500, "{} fields", sizes.len());
    let largest = rows.iter().map(|row| row.bytes).max().unwrap() as f64;
    let shown = sizes.iter().map(|field| field.bytes).max().unwrap() as f64;
    assert!(shown > largest * 0.85, "{shown} of {largest}");
    assert_eq!(sizes, RunReport::read(directory.path()).unwrap().sizes, "the same each time");
}

#[test]
fn a_record_that_contradicts_itself_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let run = crate::fixture::run::write(directory.path(), &info(WINDOW, vec![]), &[answered(1200)]);
    let mut summary = run.summary().unwrap();
    summary.requests += 4;
    run.write_summary(&summary).unwrap();
    let report = RunReport::read(directory.path()).unwrap();
    let wanted = "summary.json counts 5 requests in the measuring window, requests.parquet holds 1.";
    assert_eq!(report.contradictions, [wanted]);
    assert!(report.table().contains(wanted));
}

#[test]
fn what_the_generator_could_not_do_comes_first() {
    let directory = tempfile::tempdir().unwrap();
    let run = crate::fixture::run::write(directory.path(), &info(WINDOW, vec![]), &[answered(1200)]);
    let headline = |change: &dyn Fn(&mut record::Summary)| {
        let mut summary = run.summary().unwrap();
        change(&mut summary);
        run.write_summary(&summary).unwrap();
        RunReport::read(directory.path()).unwrap().verdict.headline
    };
    let missed = headline(&|summary| {
        summary.objectives.push(record::ObjectiveResult {
            objective: "p99<5ms".to_owned(),
            measured: Some(0.013),
            met: false,
        });
    });
    assert_eq!(missed, "The objective p99<5ms was missed: 13.0 ms");
    let invalid = headline(&|summary| {
        summary.client.valid = false;
        summary.client.why_invalid = vec!["it was late".to_owned()];
    });
    assert_eq!(invalid, "Not valid: these figures are the load generator’s, not the server’s");
    assert!(RunReport::read(directory.path()).unwrap().table().contains("- it was late"));
    let silent = headline(&|summary| summary.responses = 0);
    assert_eq!(silent, "None of 1 requests was answered");
}

#[test]
fn a_run_of_sessions_is_told_by_them() {
    let directory = tempfile::tempdir().unwrap();
    let summary = crate::fixture::run::write_late_sessions(directory.path());
    let report = RunReport::read(directory.path()).unwrap();
    assert_eq!((report.unit, &report.summary), (Counted::Sessions, &summary));
    assert_eq!((&*report.steps.unit, report.steps.rows[0].level), ("sessions/s", 25.0));
    let sessions = report.steps.rows[0].sessions.unwrap();
    assert_eq!((sessions.started, sessions.completed, sessions.offered), (200, 92, 25.0));
    assert_eq!((sessions.achieved, sessions.completion.unwrap().value), (11.5, 0.46));
    assert_eq!(report.verdict.figures[0].value, "11.5/s");
    assert_eq!(report.verdict.figures[0].label, "sessions completed");
    assert_eq!(report.verdict.figures[0].note, "25.0/s offered for 8 s");
    let lag = report.timeline.lag.p99[30].unwrap();
    assert!(lag > 0.004 && lag <= 0.006_1, "{lag}");
}

#[test]
fn a_run_without_requests_is_still_a_report() {
    let directory = tempfile::tempdir().unwrap();
    crate::fixture::run::write(directory.path(), &info(WINDOW, vec![]), &[]);
    let report = RunReport::read(directory.path()).unwrap();
    assert_eq!(report.verdict.headline, "Nothing was asked for in the measuring window");
    assert!(report.distributions.is_empty() && report.sizes.is_empty() && report.urls.rows.is_empty());
    report::run(directory.path()).unwrap();
}

#[test]
fn the_page_is_written_beside_the_record() {
    let directory = tempfile::tempdir().unwrap();
    crate::fixture::run::write(directory.path(), &info(WINDOW, vec![]), &[answered(1200)]);
    let path = report::run(directory.path()).unwrap();
    assert_eq!(path, directory.path().join("report.html"));
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.contains(r#"{"kind":"run","title":"http://synthetic.example/""#));
    let document = Document::read(directory.path()).unwrap();
    assert!(matches!(&document, Document::Run(report) if !report.files.contains(&"report.html".to_owned())));
    document.write(directory.path()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), page, "made again, it is the same");
}

#[test]
fn a_record_that_cannot_be_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let check = |wanted: &str| {
        let why = report::run(directory.path()).unwrap_err().to_string();
        assert!(why.contains(wanted), "{why}");
    };
    check("has no experiment.json and no run.toml");
    crate::fixture::run::write(directory.path(), &info(WINDOW, vec![]), &[answered(1200)]);
    fs::write(directory.path().join("requests.parquet"), "PAR").unwrap();
    check("requests.parquet");
    fs::remove_file(directory.path().join("summary.json")).unwrap();
    check("summary.json");
    assert!(matches!(report::run(Path::new("/nowhere/at/all")), Err(Error::Missing(_))));
}
