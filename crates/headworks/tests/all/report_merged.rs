//! `headworks report A B`: several records of the generator as one.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use record::{RunDirectory, Summary};
use stats::Histogram;
use testkit::Process;

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

const WORKLOAD: &str = r#"
kind = "sessions"
[[class]]
name = "premium"
share = 0.5
[[class]]
name = "basic"
share = 0.5
[[page]]
url = "/bytes/100"
think = "20ms"
[[page]]
url = "/bytes/300"
"#;

fn origin() -> (Process, SocketAddr) {
    Process::origin(HEADWORKS, &["--workers", "64"])
}

fn load(url: &str, out: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(HEADWORKS);
    command.args(["load", url, "--quiet", "--out"]).arg(out).args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn report(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut command = Command::new(HEADWORKS);
    command.arg("report");
    arguments.iter().for_each(|argument| {
        command.arg(argument);
    });
    command.output().unwrap()
}

fn summary(directory: &Path) -> Summary {
    RunDirectory::open(directory).unwrap().summary().unwrap()
}

/// What a new record says, and its parts.
fn merged(parts: &[&PathBuf], out: &Path) -> Summary {
    let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = parts.iter().map(|part| part as _).collect();
    arguments.extend([&"--json" as &dyn AsRef<std::ffi::OsStr>, &"--out", &out]);
    let output = report(&arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    let printed: Summary =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {said}"));
    assert_eq!(printed, summary(out));
    assert!(out.join("report.html").is_file());
    printed
}

/// The counts of `whole` are those of its parts, and its percentiles those of all their requests.
#[track_caller]
fn check_sums(whole: &Summary, parts: &[&PathBuf]) {
    let summaries: Vec<Summary> = parts.iter().map(|part| summary(part)).collect();
    let sum = |figure: fn(&Summary) -> u64| summaries.iter().map(figure).sum::<u64>();
    assert_eq!(whole.requests, sum(|part| part.requests));
    assert_eq!(whole.responses, sum(|part| part.responses));
    assert_eq!(whole.bytes, sum(|part| part.bytes));
    assert_eq!(whole.status[&200], sum(|part| part.status[&200]));
    assert_eq!(whole.connections.opened, sum(|part| part.connections.opened));
    assert_eq!(whole.connections.reused, sum(|part| part.connections.reused));
    assert_eq!(whole.sessions.started, sum(|part| part.sessions.started));
    assert_eq!(whole.sessions.completed, sum(|part| part.sessions.completed));
    let mut all = Histogram::new();
    for part in parts {
        let run = RunDirectory::open(part).unwrap();
        let window = run.info().unwrap().window;
        let rows = run.requests().unwrap().map(Result::unwrap);
        rows.filter(|row| window.contains(row.intended)).for_each(|row| all.record(row.latency()));
    }
    assert_eq!(whole.latency.total, record::Quantiles::of(&all));
}

#[test]
fn generators_side_by_side_add_up() {
    let (_server, address) = origin();
    let url = format!("http://{address}/bytes/500");
    let scratch = tempfile::tempdir().unwrap();
    let [a, b, whole] = ["a", "b", "whole"].map(|name| scratch.path().join(name));
    let ramp = ["--ramp", "50:150:50:500ms", "--warmup", "300ms"];
    let mut first = load(&url, &a, &ramp);
    load(&url, &b, &[&ramp[..], &["--seed", "2"]].concat()).wait().unwrap();
    first.wait().unwrap();
    let whole_summary = merged(&[&a, &b], &whole);
    check_sums(&whole_summary, &[&a, &b]);
    let (one, other) = (summary(&a), summary(&b));
    assert_eq!(whole_summary.rate.offered, one.rate.offered + other.rate.offered);
    assert!((whole_summary.rate.achieved - one.rate.achieved - other.rate.achieved).abs() < 1e-6);
    for ((step, one), other) in whole_summary.steps.iter().zip(&one.steps).zip(&other.steps) {
        assert_eq!(step.level, one.level + other.level);
        assert_eq!(step.requests, one.requests + other.requests);
    }
    assert_eq!(whole_summary.steps.len(), 3);
    // And it is a record like others, whose files agree.
    let shown = String::from_utf8(report(&[&whole]).stdout).unwrap();
    assert!(!shown.contains("requests.parquet holds"), "{shown}");
    assert!(shown.contains("3 steps from 100 to 300"), "{shown}");
}

#[test]
fn runs_one_after_the_other_are_averaged() {
    let (_server, address) = origin();
    let scratch = tempfile::tempdir().unwrap();
    let [a, b, whole, workload] = ["a", "b", "whole", "two.toml"].map(|name| scratch.path().join(name));
    std::fs::write(&workload, WORKLOAD).unwrap();
    let url = format!("http://{address}");
    for (out, rate, duration) in [(&a, "20", "2s"), (&b, "50", "1s")] {
        let workload = workload.to_str().unwrap();
        load(&url, out, &["--workload", workload, "--rate", rate, "--duration", duration]).wait().unwrap();
    }
    let summary = merged(&[&a, &b], &whole);
    check_sums(&summary, &[&a, &b]);
    assert_eq!(summary.duration, 3.0);
    assert!((summary.rate.offered - 30.0).abs() < 1e-9, "{}", summary.rate.offered);
    let asked = RunDirectory::open(&whole).unwrap().info().unwrap().spec["rate"].as_float().unwrap();
    assert!((asked - 30.0).abs() < 1e-9, "{asked}");
    let classes = summary.sessions.by_class.values();
    assert_eq!(classes.map(|class| class.started).sum::<u64>(), summary.sessions.started);
    // No two sessions of the new record have one number.
    let run = RunDirectory::open(&whole).unwrap();
    let mut numbers: Vec<u64> = run.sessions().unwrap().map(|row| row.unwrap().session).collect();
    let all = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let (_server, address) = origin();
    let scratch = tempfile::tempdir().unwrap();
    let [a, sessions, workload] = ["a", "sessions", "two.toml"].map(|name| scratch.path().join(name));
    std::fs::write(&workload, WORKLOAD).unwrap();
    load(&format!("http://{address}/"), &a, &["-n", "3"]).wait().unwrap();
    let of_sessions = ["--workload", workload.to_str().unwrap(), "-n", "2", "-c", "1"];
    load(&format!("http://{address}"), &sessions, &of_sessions).wait().unwrap();
    let check = |arguments: &[&dyn AsRef<std::ffi::OsStr>], says: &str| {
        let output = report(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(says), "{error}");
    };
    check(&[&a, &a], "is given twice");
    check(&[&a, &sessions], "do not go together");
    check(&[&a, &scratch.path()], "is not a record of headworks load");
    // Begun a second apart, each for two: a part of one time.
    let parts = ["early", "late"].map(|name| {
        let out = scratch.path().join(name);
        let url = format!("http://{address}/{name}");
        let running = load(&url, &out, &["--rate", "50", "--duration", "2s"]);
        std::thread::sleep(std::time::Duration::from_millis(1300));
        (running, out)
    });
    let [early, late] = parts.map(|(mut running, out)| {
        running.wait().unwrap();
        out
    });
    check(&[&early, &late], "neither side by side nor one after the other");
    check(&[&a, &"--out", &"x"], "--out is for several records");
}
