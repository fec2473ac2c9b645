//! `headworks sim --out` as a process: what a simulation leaves behind.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::process::{Command, Output};

use serde_json::Value;

const FILES: [&str; 6] =
    ["run.toml", "environment.json", "summary.json", "samples.parquet", "model.toml", "report.html"];

fn headworks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headworks")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_simulation_is_kept_and_its_report_made_again() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("run");
    let place = out.to_str().unwrap();
    let plan = "sim --cv 3 --queue 66 --requests 20k --replications 4 --precision 0 --out";
    let plan: Vec<&str> = plan.split(' ').chain([place]).collect();
    let output = headworks(&[&plan[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kept = std::fs::read_to_string(out.join("summary.json")).unwrap();
    assert_eq!(printed, serde_json::from_str::<Value>(&kept).unwrap());
    for file in FILES {
        assert!(out.join(file).is_file(), "{file}");
    }

    let page = out.join("report.html");
    let first = std::fs::read_to_string(&page).unwrap();
    assert!(first.contains(r#""kind":"simulation""#) && first.contains("How long was the queue?"));
    std::fs::remove_file(&page).unwrap();
    let output = headworks(&["report", place]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(shown.contains("of the requests are rejected; the others take"), "{shown}");
    assert!(shown.contains("h2:3 at load 1, 25 threads, a queue of 66"), "{shown}");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), first);

    // What was simulated is in the directory.
    let model = out.join("model.toml");
    let again = "sim --requests 20k --replications 4 --precision 0 --json --model";
    let again: Vec<&str> = again.split(' ').chain([model.to_str().unwrap()]).collect();
    let again: Value = serde_json::from_slice(&headworks(&again).stdout).unwrap();
    assert_eq!(again["latency"], printed["latency"]);

    let output = headworks(&plan);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("already holds a run"), "{}", text(&output.stderr));
}

#[test]
fn it_is_not_for_sessions() {
    let output = headworks(&["sim", "--workload", "w.toml", "--rate", "5", "--out", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--out"), "{}", text(&output.stderr));
}
