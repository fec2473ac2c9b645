//! What the operator's console is made of: the page, the last hour, what was changed, and what would be.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{BufRead as _, BufReader};

use crate::common::{Gate, Held, console, echo, session};
use serde_json::{Value, json};
use testkit::{PATIENCE, Raw, Response, poll_until};

#[track_caller]
fn get(gate: &Gate, path: &str) -> Value {
    let answer = gate.ask("GET", path, "");
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    serde_json::from_slice(&answer.body).unwrap()
}

#[track_caller]
fn show(gate: &Gate, path: &str, headers: &str) -> Response {
    Raw::connect(gate.admin)
        .send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"))
        .response()
}

#[test]
fn the_console_is_shown_and_may_run_nothing_but_itself() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let way = show(&gate, "/", "");
    assert_eq!((way.status, way.header("location")), (307, Some("/console")));
    let plain = show(&gate, "/console", "");
    assert_eq!((plain.status, plain.text()), (200, console::PAGE));
    let allowed = plain.header("content-security-policy").unwrap();
    for part in ["default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "frame-ancestors 'none'"]
    {
        assert!(allowed.contains(part), "{part} in {allowed}");
    }
    assert!(!allowed.contains("unsafe") && plain.header("content-type").unwrap().starts_with("text/html"));
    let compressed = show(&gate, "/console", "Accept-Encoding: br, gzip\r\n");
    assert_eq!(compressed.header("content-encoding"), Some("gzip"));
    assert!(compressed.body.starts_with(b"\x1f\x8b"));
}

#[test]
fn with_tokens_the_page_is_shown_without_one_and_nothing_else() {
    let (server, directory) = (echo(""), tempfile::tempdir().unwrap());
    std::fs::write(directory.path().join("tokens"), "ops ops-0123456789abcdef\n").unwrap();
    let gate = Gate::administered(
        server.address(),
        directory.path(),
        "[admin]\nlisten = '127.0.0.1:0'\ntoken-file = 'tokens'\n",
    );
    assert_eq!(show(&gate, "/console", "").status, 200);
    assert_eq!(show(&gate, "/console/refusal", "").status, 200);
    for path in ["/api/v1/state", "/api/v1/history", "/console/", "/console/x", "/api/v1/events?samples=true"]
    {
        assert_eq!(show(&gate, path, "").status, 401, "{path}");
    }
    assert_eq!(gate.ask("POST", "/console", "").status, 401);
    let state = show(&gate, "/api/v1/state", "Authorization: Bearer ops-0123456789abcdef\r\n");
    let state: Value = serde_json::from_slice(&state.body).unwrap();
    assert_eq!(state["operator"]["may_change"], true);
    assert!(state["operator"]["name"].as_str().unwrap().ends_with("(ops)"));
}

#[test]
fn what_clients_see_is_shown_where_it_can_do_nothing() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    assert_eq!(show(&gate, "/console/waiting-room", "").status, 404);
    let refusal = show(&gate, "/console/refusal", "");
    assert!(refusal.header("content-security-policy").unwrap().starts_with("sandbox; default-src 'none'"));
    assert!(refusal.text().contains("<html") && !refusal.text().contains("{{"));
    let gate = Gate::start(server.address(), "[waiting-room]\nenabled = true\n");
    let room = show(&gate, "/console/waiting-room", "");
    assert_eq!(room.status, 200);
    assert!(room.text().contains("17") && !room.text().contains("{{"), "{}", room.text());
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("words"), "Come back later.").unwrap();
    let own = "[admin]\nlisten = '127.0.0.1:0'\n[reject]\nbody-file = 'words'\n";
    let own = Gate::administered(server.address(), directory.path(), own);
    assert_eq!(show(&own, "/console/refusal", "").status, 404);
}

#[test]
fn the_gate_says_whether_anybody_suffers() {
    let server = echo("");
    let address = server.address();
    let gate = Gate::start(address, "");
    let verdict = |what: &str, is_so: &dyn Fn(&Value) -> bool| {
        poll_until(PATIENCE, what, || {
            gate.get("/", "Cookie: tier=premium\r\n");
            Some(get(&gate, "/api/v1/state")["verdict"].clone()).filter(is_so)
        })
    };
    let calm = verdict("a second that is over", &|verdict| verdict["brief"] == "Calm");
    assert_eq!(calm["severity"], "calm");
    assert!(calm["words"].as_str().unwrap().starts_with("No class suffers"), "{calm}");
    let p95 = &get(&gate, "/api/v1/state")["classes"][0]["p95"];
    assert!(p95.as_f64().is_some_and(|p95| (0.0..1.0).contains(&p95)), "{p95}");
    drop(server);
    let failing = verdict("failures that are noticed", &|verdict| verdict["severity"] != "calm");
    assert!(["warning", "alarm"].map(Value::from).contains(&failing["severity"]), "{failing}");
    assert!(failing["words"].as_str().unwrap().contains(&address.to_string()), "{failing}");
    assert_ne!(failing["meaning"], calm["meaning"]);
}

#[test]
fn the_last_seconds_are_kept_and_told() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let mut listener = Raw::connect(gate.admin);
    listener.send("GET /api/v1/events?samples=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let lines = BufReader::new(listener.stream()).lines();
    for _ in 0..10 {
        gate.get("/", "Cookie: tier=premium\r\n");
    }
    let history = poll_until(PATIENCE, "a second with requests", || {
        let history = get(&gate, "/api/v1/history");
        let served = |sample: &Value| sample["classes"][0]["served"].as_f64().unwrap() > 0.0;
        history["samples"].as_array().unwrap().iter().any(served).then_some(history)
    });
    assert_eq!(history["classes"], json!(["premium", "basic"]));
    let all = get(&gate, "/api/v1/history?samples=1")["samples"][0].clone();
    let number = all["classes"][0]["served"].as_f64().unwrap() * all["span"].as_f64().unwrap();
    assert!((number - 10.0).abs() < 0.1, "{all}");
    assert!(all["classes"][0]["p95"].as_f64().unwrap() >= 0.0);
    assert_eq!(all["classes"][1]["response"], Value::Null);
    let told = lines.map_while(Result::ok).skip_while(|line| line != "event: sample").nth(1).unwrap();
    let told: Value = serde_json::from_str(told.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(told["classes"].as_array().unwrap().len(), 2);
    for wrong in ["seconds=0", "samples=3601", "seconds", "more=1"] {
        assert_eq!(gate.ask("GET", &format!("/api/v1/history?{wrong}"), "").status, 400, "{wrong}");
    }
    assert_eq!(gate.ask("GET", "/api/v1/events?samples=1", "").status, 400);
}

#[test]
fn changes_are_kept_the_latest_first() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    assert_eq!(get(&gate, "/api/v1/changes"), json!({ "changes": [] }));
    gate.ask("PATCH", "/api/v1/knobs", "{\"favour\": 0.25}");
    gate.ask("POST", "/api/v1/drain", "");
    gate.ask("DELETE", "/api/v1/drain", "");
    gate.ask("POST", "/api/v1/reload", "");
    let changes = get(&gate, "/api/v1/changes");
    let changes = changes["changes"].as_array().unwrap();
    let events: Vec<&str> = changes.iter().map(|change| change["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["reload", "drain", "drain", "knobs"]);
    let knobs = changes.last().unwrap();
    assert_eq!(
        (&knobs["old"]["favour"], &knobs["new"]["favour"], &knobs["id"]),
        (&json!(0.5), &json!(0.25), &json!(1))
    );
    assert!(knobs["who"].as_str().unwrap().starts_with("127.0.0.1:"));
    assert!(
        (knobs["at"].as_f64().unwrap() - get(&gate, "/api/v1/state")["clock"].as_f64().unwrap()).abs() < 60.0
    );
}

#[test]
fn in_shadow_mode_all_that_waits_is_let_through() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "window = 1\n");
    let clients: Vec<_> = (0..3)
        .map(|_| {
            let mut client = gate.connect();
            client.get("/");
            client
        })
        .collect();
    gate.wait_for_queue(2);
    let answer = gate.ask("PATCH", "/api/v1/mode", "{\"mode\": \"shadow\"}");
    assert_eq!((answer.status, answer.text().trim()), (200, "{\"mode\":\"shadow\"}"));
    for _ in 0..3 {
        server.next();
    }
    assert_eq!(get(&gate, "/api/v1/state")["mode"], "shadow");
    drop(clients);
    let answer = gate.ask("PATCH", "/api/v1/mode", "{\"mode\": \"enforce\"}");
    assert_eq!(answer.status, 200);
    let change = get(&gate, "/api/v1/changes")["changes"][0].clone();
    assert_eq!(
        (&change["event"], &change["old"], &change["new"]),
        (&json!("mode"), &json!("shadow"), &json!("enforce"))
    );
    for wrong in ["{\"mode\": \"off\"}", "{}", "x"] {
        assert_eq!(gate.ask("PATCH", "/api/v1/mode", wrong).status, 400, "{wrong}");
    }
}

#[test]
fn a_prediction_is_of_the_requests_of_late_and_their_sessions() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let wish =
        "{\"knobs\": [{\"differentiation\": 0, \"favour\": 1}, {\"differentiation\": 1, \"favour\": 0}]}";
    let early = gate.ask("POST", "/api/v1/foresight", wish);
    assert_eq!(early.status, 503, "{}", early.text());
    for _ in 0..3 {
        let cookie = session(&gate.get("/", ""));
        gate.get("/a", &cookie);
        gate.get("/b", &cookie);
    }
    let answer = gate.ask("POST", "/api/v1/foresight", wish);
    let found: Value = serde_json::from_slice(&answer.body).unwrap();
    let load = &found["load"];
    assert_eq!((&load["requests"], &load["sessions"], &load["seconds"]), (&json!(9), &json!(3), &json!(3.0)));
    assert_eq!(found["points"].as_array().unwrap().len(), 2);
    let open = gate.ask("POST", "/api/v1/foresight", "{}");
    assert_eq!(open.status, 200, "{}", open.text());
    let open: Value = serde_json::from_slice(&open.body).unwrap();
    assert_eq!(open["suggested"], json!({ "differentiation": 1.0, "favour": 0.25 }), "as it was told");
    for wrong in [
        "{\"knobs\": []}",
        "{\"knobs\": [{\"differentiation\": 2, \"favour\": 1}]}",
        "{\"knobs\": [{\"favour\": 1}]}",
        "nonsense",
    ] {
        assert_eq!(gate.ask("POST", "/api/v1/foresight", wrong).status, 400, "{wrong}");
    }
    assert_eq!(get(&gate, "/api/v1/outcome?since=12.5")["from"], 12.5);
    for wrong in ["since=x", "since=-1", "until=1"] {
        assert_eq!(gate.ask("GET", &format!("/api/v1/outcome?{wrong}"), "").status, 400, "{wrong}");
    }
}
