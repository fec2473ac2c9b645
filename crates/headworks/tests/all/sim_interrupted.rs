//! `headworks sim` ended by a signal: what is known by then is printed and kept.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/workloads/banking.toml");

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
    command.arg("sim").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Ends a simulation of a million replications that says how far it is; gives what it prints.
#[track_caller]
fn check_ended(arguments: &[&str], signal: Signal, code: i32) -> Value {
    let all = ["--replications", "1M", "--precision", "0", "--json"];
    let mut child = start(&[arguments, &all].concat());
    let mut progress = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    errors.read_line(&mut progress).unwrap();
    assert!(progress.contains("/1000000 replications"), "{progress}");
    kill_process(Pid::from_child(&child), signal).unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(code));
    let outcome: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(outcome["precision"]["state"], "interrupted", "{outcome}");
    assert!((2..1_000_000).contains(&outcome["replications"].as_u64().unwrap()), "{outcome}");
    outcome
}

#[test]
fn requests_are_what_was_simulated() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("run");
    let plan = ["--requests", "1000", "--warmup", "100", "--out", out.to_str().unwrap()];
    let outcome = check_ended(&plan, Signal::INT, 130);
    assert!(outcome["rejected"]["mean"].as_f64().unwrap() > 0.0, "{outcome}");
    let kept = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept("summary.json")).unwrap(), outcome);
    assert!(kept("run.toml").contains("interrupted = true"), "{}", kept("run.toml"));
    assert!(kept("report.html").contains("ended it early"));
}

#[test]
fn sessions_are_what_was_simulated() {
    assert!(Path::new(WORKLOAD).is_file());
    let outcome = check_ended(
        &["--workload", WORKLOAD, "--rate", "5", "--duration", "1s", "--warmup-time", "1s"],
        Signal::TERM,
        143,
    );
    assert!(outcome["classes"][1]["completion"]["mean"].as_f64().unwrap() > 0.5, "{outcome}");
}
