//! `headworks sim --policy` as a process: the requests of a model behind the gate's policy.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

const GATE: &str = r#"
listen = "127.0.0.1:8080"
upstream = "127.0.0.1:8000"
window = 25
differentiation = 1.0
class = [{ name = "gold" }, { name = "tin" }]
rule = [{ class = "gold", path = "/dynamic" }]
deadlines = { acceptor = "200ms", pending = "200ms", discard = "400ms", class = "500ms" }
limits = { connections = 500 }
"#;

fn sim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headworks")).arg("sim").args(arguments).output().unwrap()
}

fn run(arguments: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("gate.toml");
    fs::write(&gate, GATE).unwrap();
    let plan = format!(
        "--requests 20k --warmup 2k --replications 4 --precision 0 --json --policy {}",
        gate.display()
    );
    let all: Vec<&str> = plan.split(' ').chain(arguments.split(' ')).collect();
    let output = sim(&all);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn outcome(arguments: &str) -> Value {
    serde_json::from_slice(&run(arguments).stdout).unwrap()
}

fn mean(value: &Value) -> f64 {
    value["mean"].as_f64().unwrap()
}

#[test]
fn tokens_and_rules_say_who_is_served() {
    // A tenth of the requests are dynamic: gold by the rule. Of the others every tenth has a token.
    let outcome =
        outcome("--load 3 --dynamic 0.1 --dynamic-cost 2 --premium 0.1 --cv 2 --queue 10 --threads 25");
    let [gold, tin] = [&outcome["gate"][0], &outcome["gate"][1]];
    assert_eq!((gold["name"].as_str(), tin["name"].as_str()), (Some("gold"), Some("tin")), "{outcome}");
    assert!(mean(&gold["served"]) > 0.95 && mean(&tin["served"]) < 0.3, "{outcome}");
    let share = mean(&gold["throughput"]) / mean(&gold["served"]);
    let rate = share + mean(&tin["throughput"]) / mean(&tin["served"]);
    assert!((share / rate - 0.19).abs() < 0.01, "{outcome}");
    // What every simulation says. Gold is dearer than the others, so more than two thirds of all are rejected.
    assert!((0.67..0.8).contains(&mean(&outcome["rejected"])), "{outcome}");
    assert!(outcome["latency"]["p90"]["ci"].is_array() && outcome["classes"][1]["name"] == "dynamic");
}

#[test]
fn a_server_with_less_room_than_the_window_is_told() {
    for (queue, says) in [("0", true), ("10", false)] {
        let plan = format!("--load 3 --dynamic-cost 2 --premium 0.2 --queue {queue}");
        let output = run(&plan);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(text.contains("found the server full"), says, "{text}");
    }
}

#[test]
fn what_makes_no_sense_is_said() {
    for (arguments, says) in [
        ("--premium 0.2", "--policy"),
        ("--gate-cost 1ms", "--policy"),
        ("--addresses 4", "--workload"),
        ("--policy gate.toml --out runs/x", "--out"),
        ("--policy no-such-file.toml", "no-such-file.toml"),
    ] {
        let output = sim(&arguments.split(' ').collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {text}");
        assert!(text.contains(says), "{arguments}: {text}");
    }
}

#[test]
fn advice_says_where_to_put_the_knobs() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("gate.toml");
    fs::write(&gate, GATE).unwrap();
    let ask = |arguments: &str| {
        let plan =
            "--requests 5k --warmup 500 --replications 16 --load 3 --dynamic-cost 2 --queue 10 --policy";
        let all = ["advise"].into_iter().chain(plan.split(' ')).chain([gate.to_str().unwrap()]);
        sim(&all.chain(arguments.split(' ')).collect::<Vec<_>>())
    };
    let output = ask("--objective gold:rejected<5% --try-differentiation 0,100% --try-favour 0.5 --json");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let advice: Value = serde_json::from_slice(&output.stdout).unwrap();
    let met = [&advice["trials"][0]["met"], &advice["trials"][1]["met"]];
    assert_eq!(met, [&Value::Bool(false), &Value::Bool(true)], "{advice}");
    let best = &advice["best"];
    assert_eq!((best["differentiation"].as_f64(), best["favour"].as_f64()), (Some(1.0), Some(0.5)));
    assert_eq!(best["classes"][0]["name"], "gold");
    assert!(mean(&best["classes"][0]["turned_away"]) < 0.05, "{advice}");

    let output = ask("--objective rejected<40% --try-differentiation 1 --try-favour 0.5");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("gold served") && text.contains("No pair of knobs"), "{text}");

    for (arguments, says) in [
        ("--objective silver:p90<1s", "its classes: gold, tin"),
        ("--objective p90<1s --try-queues 1", "--try-queues"),
        ("--objective p90<1s --try-favour 2", "--try-favour"),
    ] {
        let output = ask(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {text}");
        assert!(text.contains(says), "{arguments}: {text}");
    }
    let bare = sim(&["advise", "--objective", "gold:p90<1s"]);
    assert!(String::from_utf8_lossy(&bare.stderr).contains("--policy"));
    assert_eq!(bare.status.code(), Some(2));
}

#[test]
fn slow_clients_are_closed_to_make_room_unless_they_are_to_be_kept() {
    let attack = "--load 0.5 --dynamic 0 --queue 100 --premium 0.2 --slow-clients 2000 --slow-send 10B";
    let [guarded, kept] = ["", " --keep-slow"].map(|keep| outcome(&format!("{attack}{keep}")));
    for class in [0, 1] {
        assert!(mean(&guarded["gate"][class]["served"]) > 0.99, "{guarded}");
        assert!(mean(&kept["gate"][class]["served"]) < 0.6, "{kept}");
        assert!(mean(&kept["gate"][class]["unaccepted"]) > 0.4, "{kept}");
    }
}

#[test]
fn what_slow_clients_are_slow_at_has_to_be_said() {
    let output = sim(&["--policy", "gate.toml", "--slow-clients", "10"]);
    assert_eq!(output.status.code(), Some(2));
    let output = sim(&["--slow-clients", "10", "--slow-send", "10B"]);
    assert_eq!(output.status.code(), Some(2), "without --policy");
}
