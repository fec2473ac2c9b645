//! The console of `headworks gate`, and what it says that other knobs would do.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::process::Command;
use std::time::Duration;

use crate::common::Site;
use serde_json::{Value, json};
use testkit::{Raw, Response, poll_until};

/// Sessions of three pages with short pauses: a load that the server can carry half of.
const SHOP: &str = "kind = 'sessions'\ntimeout = '3s'\n\
    [[class]]\nname = 'premium'\nshare = 0.2\ncookie = 'tier=premium'\n[[class]]\nname = 'basic'\nshare = 0.8\n\
    [[page]]\nurl = '/delay?before=10ms'\nthink = '100ms'\n[[page]]\nurl = '/delay?before=5ms'\nthink = 'exp:200ms'\n\
    [[page]]\nurl = '/delay?before=10ms'\n";
const CLASSES: &str = "window = 2\n[[class]]\nname = 'premium'\n[[class]]\nname = 'basic'\n\
    [[rule]]\nclass = 'premium'\ncookie = 'tier=premium'\n";
/// Both are longer than a prediction takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

#[track_caller]
fn ask(site: &Site, request: &str, body: &str) -> Response {
    let length = body.len();
    let mut client = Raw::connect(site.admin);
    // A prediction takes up to 25 s.
    client.stream().set_read_timeout(Some(LONG)).unwrap();
    client
        .send(format!("{request} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"))
        .response()
}

#[track_caller]
fn json(answer: &Response) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn the_console_is_part_of_the_program() {
    let site = Site::new();
    let _gate = site.configure("").start();
    let page = ask(&site, "GET /console", "");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("<title>"), "{}", page.text());
    let allowed = page.header("content-security-policy").unwrap();
    assert!(allowed.contains("script-src 'sha256-") && allowed.contains("style-src 'sha256-"), "{allowed}");
    for outside in [" onclick=", " onload=", "src=\"http", "href=\"http", " style=\""] {
        assert!(!page.text().contains(outside), "{outside:?} in the page");
    }
    let state = json(&ask(&site, "GET /api/v1/state", ""));
    assert_eq!((&state["foresight"], &state["mode"]), (&json!(true), &json!("enforce")));
}

#[test]
fn the_description_of_the_interface_is_the_one_that_is_kept() {
    let said = Command::new(env!("CARGO_BIN_EXE_headworks")).args(["gate", "openapi"]).output().unwrap();
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(kept).unwrap()).unwrap();
    assert!(said == kept, "docs/openapi.json is old; `make report-types` writes it anew");
}

#[test]
fn what_a_reload_would_change_is_said_before() {
    let site = Site::new();
    let _gate = site.configure("window = 4\n").start();
    let difference = || json(&ask(&site, "GET /api/v1/reload", ""));
    assert_eq!(difference(), json!({ "changes": [], "refused": null }));
    site.configure("window = 6\n");
    let said = difference();
    let change = &said["changes"][0];
    assert_eq!((&change["setting"], &said["refused"]), (&json!("window"), &Value::Null));
    assert!(
        change["old"].as_str().unwrap().starts_with('4') && change["new"].as_str().unwrap().starts_with('6')
    );
    assert_eq!(site.metric("headworks_gate_window"), 4.0, "nothing has changed");
    site.configure("window = 0\n");
    let said = difference();
    assert!(said["refused"].as_str().unwrap().contains("gate.toml:4: the window is 0"), "{said}");
    site.configure("window = 6\n");
    assert_eq!(json(&ask(&site, "POST /api/v1/reload", "")), json!({ "changed": ["window"] }));
}

#[test]
fn other_knobs_are_simulated_with_the_load_of_the_last_minutes() {
    let site = Site::new();
    let _gate = site.configure(CLASSES).start();
    let wish = "{\"knobs\": [{\"differentiation\": 0.9, \"favour\": 0.5}, {\"differentiation\": 0.0, \"favour\": 0.5}]}";
    let early = ask(&site, "POST /api/v1/foresight", wish);
    assert_eq!(early.status, 503);
    assert!(early.text().contains("too little was seen yet"), "{}", early.text());
    std::fs::write(site.path("shop.toml"), SHOP).unwrap();
    let mut load = Command::new(env!("CARGO_BIN_EXE_headworks"));
    load.arg("load").arg(format!("http://{}/", site.address)).arg("--workload").arg(site.path("shop.toml"));
    load.args(["--rate", "150", "--duration", "22s", "--quiet", "--json"])
        .stdout(std::process::Stdio::null());
    let mut load = load.spawn().unwrap();
    let found = poll_until(LONG, "enough to be seen", || {
        let answer = ask(&site, "POST /api/v1/foresight", wish);
        (answer.status == 200).then(|| json(&answer))
    });
    let load_seen = &found["load"]["classes"];
    for (class, starts) in [(0, 30.0), (1, 120.0)] {
        let seen = load_seen[class]["starts"].as_f64().unwrap();
        assert!((0.7..1.3).contains(&(seen / starts)), "{load_seen}");
        assert!((load_seen[class]["requests"].as_f64().unwrap() - 3.0).abs() < 0.3, "{load_seen}");
    }
    for point in found["points"].as_array().unwrap() {
        // A session needs 25 ms of one of two places, and more where other programs have the processors.
        let throughput = point["throughput"]["mean"].as_f64().unwrap();
        assert!((10.0..95.0).contains(&throughput), "{point}");
        let [low, high] = [0, 1].map(|end| point["throughput"]["ci"][end].as_f64().unwrap());
        assert!(low <= throughput && throughput <= high, "{point}");
    }
    let strict = found["points"][0]["classes"][0]["completion"]["mean"].as_f64().unwrap();
    assert!(strict > 0.8, "premium goes first: {found}");
    assert!(!found["remarks"].as_array().unwrap().is_empty(), "what it cannot know, it says");
    // On a busy machine the generator may say that it was late.
    load.wait().unwrap();
    let outcome = json(&ask(&site, "GET /api/v1/outcome", ""));
    let premium = &outcome["classes"][0];
    assert_eq!(premium["name"], "premium");
    assert!(
        premium["completion"].as_f64().unwrap() > 0.5 && premium["completed"].as_f64().unwrap() > 10.0,
        "{outcome}"
    );
}
