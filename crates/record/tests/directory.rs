//! A run directory as other tools meet it.

use std::collections::BTreeMap;

use record::experiment::{
    Capacity, Class, Experiment, Factor, Limit, OtherFactor, Published, Server, Test, TestState,
};
use record::search::{Onset, Resource, Verdict};
use record::{
    ClassSummary, Counters, Environment, Error, Kind, RunDirectory, RunInfo, Step, Summary, Timestamp, Window,
};
use units::{Span, Time};

fn info() -> RunInfo {
    let mut spec = toml::Table::new();
    spec.insert("url".to_owned(), "http://127.0.0.1:8080/".into());
    RunInfo {
        tool: "load".to_owned(),
        version: "0.1.0".to_owned(),
        command: vec!["headworks".to_owned(), "load".to_owned()],
        started: Timestamp::UNIX_EPOCH,
        ended: None,
        interrupted: false,
        seed: 7,
        window: Window::new(Time::from_nanos(2_000_000_000), Span::from_secs(8)),
        step_unit: Some("clients".to_owned()),
        steps: vec![
            Step { from_ns: 2_000_000_000, to_ns: 6_000_000_000, level: 100.0 },
            Step { from_ns: 6_000_000_000, to_ns: 10_000_000_000, level: 200.0 },
        ],
        spec,
    }
}

#[test]
fn what_is_written_is_read() {
    let scratch = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(scratch.path()).unwrap();
    run.write_info(&info()).unwrap();
    run.write_info(&RunInfo { ended: Some(Timestamp::now()), ..info() }).unwrap();
    let environment = Environment::capture();
    run.write_environment(&environment).unwrap();
    run.write_counters(&Counters::default()).unwrap();
    let mut summary =
        Summary { requests: 3, status: BTreeMap::from([(200, 2), (503, 1)]), ..Summary::default() };
    summary.sessions.by_class.insert("premium".to_owned(), ClassSummary::default());
    run.write_summary(&summary).unwrap();

    let run = RunDirectory::open(scratch.path()).unwrap();
    let read = run.info().unwrap();
    assert!(read.ended.is_some());
    assert_eq!(RunInfo { ended: None, ..read }, info());
    assert_eq!(run.environment().unwrap(), environment);
    assert_eq!(run.counters().unwrap(), Counters::default());
    assert_eq!(run.summary().unwrap(), summary);
    let json = std::fs::read_to_string(scratch.path().join("summary.json")).unwrap();
    assert!(json.contains("\"503\": 1"), "{json}");
}

#[test]
fn a_run_is_never_overwritten() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("server.log"), "another tool's file is not a run").unwrap();
    let run = RunDirectory::create(scratch.path()).unwrap();
    run.write_info(&info()).unwrap();
    let error = RunDirectory::create(scratch.path()).unwrap_err();
    assert!(matches!(error, Error::Occupied { .. }), "{error}");
}

#[test]
fn a_directory_without_a_run_says_what_is_missing() {
    let scratch = tempfile::tempdir().unwrap();
    let error = RunDirectory::open(scratch.path()).unwrap_err().to_string();
    assert!(error.contains("run.toml"), "{error}");
    let error = Experiment::load(scratch.path()).unwrap_err().to_string();
    assert!(error.contains("experiment.json"), "{error}");
}

#[test]
fn a_file_that_was_cut_short_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(scratch.path()).unwrap();
    std::fs::write(scratch.path().join("summary.json"), "{\"requests\": 3").unwrap();
    let error = run.summary().unwrap_err().to_string();
    assert!(error.contains("summary.json"), "{error}");
}

#[test]
fn an_experiment_keeps_its_index() {
    let scratch = tempfile::tempdir().unwrap();
    let experiment = Experiment {
        seed: 1,
        title: "Overload".to_owned(),
        started: "2024-05-01T10:00:00Z".parse().unwrap(),
        ended: None,
        interrupted: true,
        version: "0.1.0".to_owned(),
        command: vec!["headworks".to_owned()],
        server: Server { kind: "origin".to_owned(), version: String::new() },
        factor: Factor { name: "load".to_owned(), unit: "x capacity".to_owned(), levels: vec![0.7, 3.0] },
        others: vec![OtherFactor {
            name: "gate.look-ahead".to_owned(),
            label: "look-ahead".to_owned(),
            unit: String::new(),
            levels: vec!["1".to_owned(), "auto".to_owned()],
            published: Some(Published {
                source: "elsewhere".to_owned(),
                rates: [("1".to_owned(), 5_700.0)].into(),
            }),
        }],
        subjects: vec!["bare".to_owned(), "gate".to_owned()],
        classes: vec![Class { name: "premium".to_owned(), share: 0.2, load: Some(0.4) }],
        generator: None,
        capacity: Some(Capacity {
            rate: 40.0,
            ci: [39.0, 41.0],
            unit: "sessions/s".to_owned(),
            directory: "capacity".to_owned(),
        }),
        tests: vec![Test {
            directory: "tests/01-bare-0.7".to_owned(),
            subject: "bare".to_owned(),
            level: 0.7,
            settings: [("look-ahead".to_owned(), "auto".to_owned())].into(),
            repeat: 1,
            offered: 28.0,
            capacity: None,
            state: TestState::NotValid,
            why: vec!["the generator lagged".to_owned()],
        }],
        limits: vec![Limit {
            subject: "bare".to_owned(),
            verdict: Verdict {
                bottleneck: Some(Resource::ServerCpu),
                confidence: 0.9,
                onset: vec![Onset { resource: Resource::ServerCpu, rate: 40.0 }],
                ..Verdict::default()
            },
        }],
    };
    assert_eq!(Kind::of(scratch.path()), None);
    experiment.save(scratch.path()).unwrap();
    assert_eq!(Kind::of(scratch.path()), Some(Kind::Experiment));
    assert_eq!(Experiment::load(scratch.path()).unwrap(), experiment);
    let json = std::fs::read_to_string(scratch.path().join("experiment.json")).unwrap();
    assert!(json.contains("\"state\": \"not valid\"") && json.contains("\"2024-05-01T10:00:00Z\""), "{json}");
}
