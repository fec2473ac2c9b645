//! `headworks sim fit` and `--model` as a process: from a log to a model file to a prediction.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn sim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headworks")).arg("sim").args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = sim(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn check_wrong(arguments: &[&str], says: &str) {
    let output = sim(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(says), "{text}");
}

/// A request every tenth of a second for ten minutes, each fifth of a program, that took 20 ms.
fn log(path: &Path) {
    let mut text = String::new();
    for tenth in 0..6000 {
        let page = if tenth % 5 == 0 { "/shop.php" } else { "/logo.png" };
        let seconds = f64::from(tenth) / 10.0;
        writeln!(text, "h - - [{:.3}] \"GET {page} HTTP/1.1\" 200 5000 0.020", 1e9 + seconds).unwrap();
    }
    fs::write(path, text).unwrap();
}

#[test]
fn a_log_becomes_a_model_that_is_simulated() {
    let directory = tempfile::tempdir().unwrap();
    let (log_file, model) = (directory.path().join("access.log"), directory.path().join("model.toml"));
    log(&log_file);
    let (log_file, model) = (log_file.to_str().unwrap(), model.to_str().unwrap());
    let fit = json(&["fit", log_file, "--out", model, "--json"]);
    assert_eq!(fit["requests"], 6000);
    assert_eq!((&fit["check"]["agrees"], &fit["classes"][0]["service"]), (&true.into(), &"constant".into()));
    assert!((fit["rate"].as_f64().unwrap() - 10.0).abs() < 0.1, "{fit}");
    assert!((fit["classes"][1]["share"].as_f64().unwrap() - 0.2).abs() < 1e-9, "{fit}");
    check_wrong(&["fit", log_file, "--out", model], "give another name or remove it");

    let quick = ["--replications", "8", "--requests", "2000", "--precision", "0", "--json"];
    let outcome = json(&[&["--model", model][..], &quick].concat());
    // They come a tenth of a second apart, so that each had the server to itself.
    assert!((outcome["utilization"]["mean"].as_f64().unwrap() - 0.2).abs() < 0.01, "{outcome}");
    let twice = json(&[&["--model", model, "--rate", "20"][..], &quick].concat());
    assert!((twice["utilization"]["mean"].as_f64().unwrap() - 0.4).abs() < 0.02, "{twice}");
    let from = json(&[&["--from", log_file][..], &quick].concat());
    assert_eq!(from["latency"]["mean"], outcome["latency"]["mean"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("m.toml");
    let model = file.to_str().unwrap();
    fs::write(&file, "arrivals = 'mmpp:5:1s:1s'\n\n[[class]]\nname = 'a'\nshare = 1\ndemand = '1ms'\n")
        .unwrap();
    check_wrong(&["--model", model, "--cv", "2"], "the model's arrivals are mmpp:5:1s:1s");
    check_wrong(&["--model", model, "--dynamic", "0.5"], "the model has a");
    check_wrong(&["--model", model, "--from", "x.log"], "cannot be used with");
    check_wrong(&["--window", "10m"], "--from");
    fs::write(&file, "thread = 5\n").unwrap();
    check_wrong(&["--model", model], "m.toml:1: unknown key \"thread\"; did you mean \"threads\"?");
    check_wrong(&["exact", "--model", "no-such.toml"], "no-such.toml: cannot read it");
    fs::write(&file, "no log\n").unwrap();
    check_wrong(&["fit", model], "not one of its lines");
}

#[test]
fn advice_is_given_for_a_model() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("m.toml");
    fs::write(&file, "rate = 150\nthreads = 10\n\n[[class]]\nname = 'a'\nshare = 1\ndemand = '10ms'\n")
        .unwrap();
    let model = file.to_str().unwrap();
    let few = ["--try-threads", "10", "--try-queues", "0,20", "--requests", "5000", "--replications", "8"];
    let ask = |objective, more: &[&str]| {
        sim(&[&["advise", "--model", model, "--objective", objective][..], &few, more].concat())
    };
    let output = ask("p90<200ms", &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let advice: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Half again as much as a processor can do comes to it.
    assert_eq!(advice["now"]["met"], false);
    let best = &advice["best"];
    assert!((0.5..1.0).contains(&best["load"].as_f64().unwrap()), "{advice}");
    assert!(best["figures"][0]["ci"][1].as_f64().unwrap() < 0.2, "{advice}");
    let output = ask("p90<5ms", &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("Nothing that was tried meets the objectives"), "{text}");
    check_wrong(&["advise", "--objective", "p97<1s"], "is not an objective");
    check_wrong(&["advise"], "--objective");
}

/// A server that does something else for a second now and then: no model of these requests shows that.
#[test]
fn a_fit_that_does_not_show_its_log_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("access.log");
    let mut text = String::new();
    for tenth in 0..12_000 {
        let seconds = f64::from(tenth) / 10.0;
        let took = if tenth % 600 < 10 { 1.0 - f64::from(tenth % 600) / 10.0 } else { 0.0 } + 0.020;
        writeln!(text, "h - - [{:.6}] \"GET /a.png HTTP/1.1\" 200 5000 {took:.3}", 1e9 + seconds + took)
            .unwrap();
    }
    fs::write(&file, text).unwrap();
    let output = sim(&["fit", file.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(
        text.contains("  differs") && text.contains("The model does not show what was observed"),
        "{text}"
    );
}

#[test]
fn a_window_is_chosen() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("access.log");
    let mut text = String::new();
    // Ten minutes at 5 requests a second, ten at 20, ten at 10.
    let mut at = 1e9;
    for (rate, count) in [(5.0, 3000), (20.0, 12_000), (10.0, 6000)] {
        for _ in 0..count {
            writeln!(text, "h - - [{at:.6}] \"GET /a.png HTTP/1.1\" 200 5000 0.001").unwrap();
            at += 1.0 / rate;
        }
    }
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    for (window, expected) in [("10m", 20.0), ("10m,1", 5.0), ("3,10m", 10.0)] {
        let fit = json(&["fit", file, "--window", window, "--json"]);
        assert!((fit["rate"].as_f64().unwrap() / expected - 1.0).abs() < 0.01, "{window}: {fit}");
    }
    // What the log had is what is planned for, over time.
    let own = ["--static-time", "10ms", "--requests", "5000", "--replications", "4", "--quiet", "--json"];
    let log = ["plan", "--from", file, "--window", "10m", "--profile", "log", "--objective", "p95<1s"];
    let answer: Value = serde_json::from_slice(&sim(&[&log[..], &own].concat()).stdout).unwrap();
    let steps = answer["profile"].as_array().unwrap();
    for (step, expected) in steps.iter().zip([5.0, 20.0, 10.0]) {
        assert!((step["rate"].as_f64().unwrap() / expected - 1.0).abs() < 0.01, "{answer}");
        assert!((step["lasts"].as_f64().unwrap() / 600.0 - 1.0).abs() < 0.01, "{answer}");
    }
    assert_eq!(steps.len(), 3);
    check_wrong(&["plan", "--profile", "log", "--objective", "p95<1s"], "--from access.log");
    check_wrong(&["fit", file, "--window", "10m,9"], "there is no window 9; it has 3");
    check_wrong(&["fit", file, "--window", "0s"], "a window of 0 has no requests");
}

#[test]
fn servers_are_planned() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("m.toml");
    let class = "[[class]]\nname = 'a'\nshare = 1\ndemand = '10ms'\n";
    fs::write(&file, format!("rate = 50\nthreads = 10\nqueue = 100\nservice = 'exponential'\n\n{class}"))
        .unwrap();
    let model = file.to_str().unwrap();
    let quick = ["--requests", "20000", "--replications", "8", "--quiet"];
    let plan = |more: &[&str]| sim(&[&["plan", "--model", model][..], &quick, more].concat());
    let output = plan(&["--rate", "450", "--objective", "p95<100ms", "--spare", "2", "--compare", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["spare"], &answer["found"]["met"]), (&2.into(), &true.into()));
    // More than the 4.5 processors that are kept busy, and no more than chance would need.
    assert!((5..=7).contains(&answer["found"]["servers"].as_u64().unwrap()), "{answer}");
    let output = plan(&["--profile", "50:8h,450:4h", "--scaling-delay", "5m", "--objective", "p95<100ms"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("It takes ") && text.contains("servers in the mean"), "{text}");
    assert_eq!(plan(&["--objective", "p95<1ms"]).status.code(), Some(3));
    check_wrong(&["plan", "--model", model, "--objective", "p97<1s"], "is not an objective");
    check_wrong(&["plan", "--model", model, "--objective", "a:p90<1s"], "leave out the class");
}
