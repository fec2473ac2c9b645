//! `headworks sim --workload` as a process: sessions against the bare server and behind the policy,
//! from the files that the gate and the generator read.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const GATE: &str = r#"
listen = "127.0.0.1:8080"
upstream = "127.0.0.1:8000"
window = 1
differentiation = 1.0
period = "100ms"
class = [{ name = "premium", target-queue = 100 }, { name = "basic" }]
rule = [{ class = "premium", cookie = "tier=premium" }]
deadlines = { acceptor = "200ms", pending = "200ms", discard = "400ms", class = "500ms" }
"#;

fn sim(arguments: &[&str]) -> Output {
    let workload = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/workloads/banking.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
    command.arg("sim").arg("--workload").arg(workload).args(arguments).output().unwrap()
}

/// The share of completed sessions of a class.
fn completion(outcome: &Value, name: &str) -> f64 {
    let classes = outcome["classes"].as_array().unwrap();
    let class = classes.iter().find(|class| class["name"] == name).unwrap();
    class["completion"]["mean"].as_f64().unwrap()
}

#[track_caller]
fn check_wrong(arguments: &[&str], says: &str) {
    let output = sim(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(says), "{text}");
}

#[test]
fn premium_is_served_behind_the_policy_and_not_without_it() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("gate.toml");
    fs::write(&gate, GATE).unwrap();
    let plan = "--rate 30 --warmup-time 2.5s --duration 10s --replications 8 --precision 0 --json";
    let plan: Vec<&str> = plan.split(' ').collect();
    let run = |more: &[&str]| -> Value {
        let output = sim(&[&plan, more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let gated = run(&["--policy", gate.to_str().unwrap()]);
    assert!(completion(&gated, "premium") > 0.999, "{gated}");
    assert!(completion(&gated, "basic") < 0.4, "{gated}");
    let bare = run(&[]);
    assert!(completion(&bare, "premium") < 0.6, "{bare}");
    // Demands vary, and so do latencies that nothing else makes vary.
    let idle = |more: &[&str]| {
        let outcome = run(&[&["--gate-cost", "0s", "--policy", gate.to_str().unwrap()], more].concat());
        outcome["utilization"]["mean"].as_f64().unwrap()
    };
    assert_ne!(idle(&[]), idle(&["--service", "lognormal", "--service-cv", "1.5"]));
}

#[test]
fn what_makes_no_sense_is_said() {
    check_wrong(&[], "--rate");
    check_wrong(&["--rate", "30", "--threads", "5"], "--threads");
    check_wrong(&["--rate", "30", "--service-cv", "0.5"], "service-cv");
    check_wrong(&["--rate", "30", "--premium", "0.5"], "--premium");
    check_wrong(&["--rate", "30", "--policy", "no-such-file.toml"], "no-such-file.toml");
    check_wrong(&["--rate", "30", "--demand", "/search"], "/search=40ms");
    check_wrong(&["--rate", "30", "--arrivals", "mmpp:5:10s:60s"], "poisson");
    check_wrong(&["--rate", "0"], "sessions per second");
}
