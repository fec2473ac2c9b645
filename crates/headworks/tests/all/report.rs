//! `headworks report` as a process.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

use record::{RunDirectory, RunInfo, Summary, Window};

/// An experiment that was stopped before its first test: the smallest one there is.
const INDEX: &str = r#"{
    "title": "Nothing measured yet", "started": "2001-02-03T04:05:06Z", "ended": null, "interrupted": true,
    "version": "0.0.0", "command": ["headworks", "lab", "run", "spec.toml"],
    "server": {"kind": "origin", "version": ""},
    "factor": {"name": "load", "unit": "x capacity", "levels": [1, 2]},
    "subjects": ["bare", "gate"], "classes": [{"name": "premium", "share": 1}],
    "capacity": null, "tests": []
}"#;

fn report(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headworks")).arg("report").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn it_writes_the_page_and_says_where() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("experiment.json"), INDEX).unwrap();
    let place = directory.path().to_str().unwrap();

    let output = report(&[place]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = directory.path().join("report.html");
    let shown = text(&output.stdout);
    assert!(shown.contains("Nothing has been measured yet."), "{shown}");
    assert!(shown.ends_with(&format!("\nreport: {}\n", page.display())), "{shown}");
    assert!(std::fs::read_to_string(page).unwrap().contains("Nothing measured yet"));

    let output = report(&[place, "--json"]);
    let data: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(data.get("title").unwrap(), "Nothing measured yet");
}

/// A run that was stopped before its first request.
fn write_run(directory: &Path) {
    let run = RunDirectory::create(directory).unwrap();
    let info = RunInfo {
        tool: "load".to_owned(),
        version: "0.0.0".to_owned(),
        command: ["headworks", "load", "http://synthetic.example/"].map(str::to_owned).to_vec(),
        started: "2001-02-03T04:05:06Z".parse().unwrap(),
        ended: None,
        interrupted: true,
        seed: 1,
        window: Window { from_ns: 0, to_ns: 1_000_000_000 },
        step_unit: None,
        steps: vec![],
        spec: Default::default(),
    };
    run.write_info(&info).unwrap();
    run.write_summary(&Summary::default()).unwrap();
    run.write_requests().unwrap().finish().unwrap();
    run.write_sessions().unwrap().finish().unwrap();
    run.write_samples().unwrap().finish().unwrap();
}

#[test]
fn a_run_has_a_report_too() {
    let directory = tempfile::tempdir().unwrap();
    write_run(directory.path());
    let output = report(&[directory.path().to_str().unwrap()]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(shown.contains("Nothing was asked for in the measuring window."), "{shown}");
    assert!(shown.ends_with(&format!("\nreport: {}\n", directory.path().join("report.html").display())));
    let output = report(&[directory.path().to_str().unwrap(), "--json"]);
    let data: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(data.pointer("/steps/ramp"), Some(&false.into()));
}

#[test]
fn a_wrong_directory_is_a_usage_error_and_a_damaged_index_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    let check = |path: &Path, code: i32, wanted: &str| {
        let output = report(&[path.to_str().unwrap()]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.starts_with("headworks: ") && said.contains(wanted), "{said}");
        assert_eq!(text(&output.stdout), "");
    };
    check(&directory.path().join("nowhere"), 2, "does not exist");
    check(directory.path(), 2, "headworks lab run");
    std::fs::write(directory.path().join("experiment.json"), "{").unwrap();
    check(directory.path(), 1, "experiment.json");
}
