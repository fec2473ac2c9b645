//! The admin interface.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::HashMap;

use crate::common::{Gate, echo};
use testkit::Response;

/// Reads the exposition format strictly: samples only after HELP and TYPE of their family.
fn parse(text: &str) -> HashMap<String, f64> {
    let mut family = (String::new(), String::new());
    let mut samples = HashMap::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            family.0 = help.split(' ').next().unwrap().to_owned();
            continue;
        }
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, family.0);
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            family.1 = kind.to_owned();
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        let plain = name.split('{').next().unwrap();
        let suffix =
            plain.strip_prefix(family.0.as_str()).unwrap_or_else(|| panic!("{line} is no {}", family.0));
        let suffixes: &[&str] = if family.1 == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        assert!(suffixes.contains(&suffix), "{line}");
        let before = samples.insert(name.to_owned(), value.parse().unwrap_or_else(|_| panic!("{line}")));
        assert_eq!(before, None, "{line} twice");
    }
    samples
}

#[test]
fn metrics_say_what_happened() {
    let server = echo("");
    let gate = Gate::start(server.address(), "window = 3");
    for _ in 0..5 {
        assert_eq!(gate.get("/", "Cookie: tier=premium\r\n").status, 200);
    }
    gate.wait_for("the last to finish", |state| state["in_service"] == 0);
    let response = gate.ask("GET", "/metrics", "");
    assert_eq!(response.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    testkit::promtool::check_metrics(response.text());
    let samples = parse(response.text());
    for (name, value) in [
        ("headworks_gate_arrived_total{class=\"premium\"}", 5.0),
        ("headworks_gate_finished_total{class=\"premium\"}", 5.0),
        ("headworks_gate_arrived_total{class=\"basic\"}", 0.0),
        ("headworks_gate_rejected_total{class=\"basic\",reason=\"deadline\"}", 0.0),
        ("headworks_gate_window", 3.0),
        ("headworks_gate_request_seconds_count{class=\"premium\",stage=\"server\"}", 5.0),
        ("headworks_gate_request_seconds_bucket{class=\"premium\",stage=\"total\",le=\"+Inf\"}", 5.0),
        ("headworks_gate_upstream_failures_total{kind=\"timeout\"}", 0.0),
    ] {
        assert_eq!(samples.get(name), Some(&value), "{name}");
    }
    assert!(samples["headworks_gate_descriptors_limit"] >= 64.0);
}

#[test]
fn knobs_are_read_and_moved() {
    let server = echo("");
    let gate = Gate::start(server.address(), "favour = 0.25");
    let knobs = |response: Response| serde_json::from_slice::<serde_json::Value>(&response.body).unwrap();
    let now = knobs(gate.ask("GET", "/api/v1/knobs", ""));
    assert_eq!((now["differentiation"].as_f64(), now["favour"].as_f64()), (Some(0.9), Some(0.25)));
    let moved = gate.ask("PATCH", "/api/v1/knobs", "{\"differentiation\": 0.5}");
    assert_eq!(moved.status, 200);
    assert_eq!(knobs(moved)["differentiation"], 0.5);
    let state = gate.state();
    assert_eq!((&state["knobs"]["differentiation"], &state["knobs"]["favour"]), (&0.5.into(), &0.25.into()));
    for (body, why) in [
        ("{\"favour\": 1.5}", "favour is 1.5; it goes from 0 to 1"),
        ("{\"favor\": 1}", "unknown field `favor`"),
        ("nonsense", "expected"),
    ] {
        let refused = gate.ask("PATCH", "/api/v1/knobs", body);
        assert_eq!(refused.status, 400);
        assert!(refused.text().contains(why), "{}", refused.text());
    }
}

#[test]
fn knobs_that_another_operator_has_moved_are_not_moved_unseen() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let ask = |expected: f64| {
        let body = format!(
            "{{\"favour\": 0.1, \"expected\": {{\"differentiation\": 0.9, \"favour\": {expected}}}}}"
        );
        gate.ask("PATCH", "/api/v1/knobs", &body)
    };
    let refused = ask(0.4);
    assert_eq!(refused.status, 409);
    assert!(refused.text().contains("favour 0.5 by now"), "{}", refused.text());
    assert_eq!(gate.state()["knobs"]["favour"], 0.5);
    assert_eq!(ask(0.5).status, 200);
    assert_eq!(gate.state()["knobs"]["favour"], 0.1);
}

#[test]
fn other_paths_and_methods_are_explained() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let lost = gate.ask("GET", "/api", "");
    assert_eq!(lost.status, 404);
    assert!(lost.text().contains("/metrics"), "{}", lost.text());
    let wrong = gate.ask("DELETE", "/api/v1/knobs", "");
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("GET, HEAD, PATCH")));
}
