//! `headworks load --prometheus` and `--otlp`: the figures of a run while it lasts.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};

use serde_json::Value;
use testkit::{Collector, PATIENCE, Process, Raw, poll_until};

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

fn origin() -> (Process, String) {
    let (server, address) = Process::origin(HEADWORKS, &[]);
    (server, format!("http://{address}/bytes/100"))
}

/// The value of a sample, if it is there; its labels are part of its name.
fn value(exposition: &str, name: &str) -> Option<f64> {
    exposition.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

fn scrape(address: SocketAddr) -> String {
    Raw::connect(address).get("/metrics").response().text().to_owned()
}

#[test]
fn a_run_can_be_scraped_as_long_as_it_lasts() {
    let (_server, url) = origin();
    let script = format!("exec {HEADWORKS} load {url} --rate 200 --duration 10m --prometheus 0 2>&1");
    let mut run = Process::start(Command::new("sh").args(["-c", &script]));
    let place = run.wait_for_line("metrics on http://");
    let address: SocketAddr = place.strip_suffix("/metrics").unwrap().parse().unwrap();

    let responses = |exposition: &str| {
        let count = value(exposition, "headworks_load_latency_seconds_count{phase=\"total\"}")?;
        (count > 0.0).then_some(count)
    };
    let first = poll_until(PATIENCE, "responses in the metrics", || responses(&scrape(address)));
    let later = poll_until(PATIENCE, "more responses", || {
        let exposition = scrape(address);
        (responses(&exposition)? > first).then_some(exposition)
    });
    assert_eq!(value(&later, "headworks_load_offered_per_second"), Some(200.0));
    assert_eq!(value(&later, "headworks_load_window_seconds"), Some(600.0));
    assert_eq!(value(&later, "headworks_load_stage{stage=\"measuring\"}"), Some(1.0));
    assert!(value(&later, "headworks_load_responses_total{status=\"200\"}").unwrap() > first);

    assert_eq!(run.terminate().code(), Some(143));
    assert!(TcpStream::connect(address).is_err(), "the endpoint ends with the run");
}

#[test]
fn an_address_that_is_taken_is_told_before_a_request_is_sent() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let taken = server.local_addr().unwrap().to_string();
    let url = format!("http://{taken}/");
    let output = Command::new(HEADWORKS)
        .args(["load", &url, "--duration", "10m", "--prometheus", &taken])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let why = String::from_utf8(output.stderr).unwrap();
    assert_eq!(why.matches("in use").count(), 1, "{why}");
    assert!(why.contains(&taken) && why.contains("choose another address with --prometheus"), "{why}");
    assert!(server.accept().is_err(), "no client connected");
}

/// Whether the run came to its end. On a machine that is busy with other tests its result may be not valid.
fn has_measured(output: &Output) -> bool {
    const NOT_VALID: i32 = 4;
    matches!(output.status.code(), Some(0 | NOT_VALID))
}

/// What is sent last is what the summary says.
#[test]
fn a_collector_gets_the_whole_run() {
    let (_server, url) = origin();
    let collector = Collector::start("200 OK");
    let place = format!("http://{}", collector.address());
    let output = Command::new(HEADWORKS)
        .args(["load", &url, "--rate", "200", "--duration", "2s", "--json", "--otlp", &place])
        .output()
        .unwrap();
    assert!(has_measured(&output), "{output:?}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (body, responses) = collector.wait_for_metric("headworks_load_responses_total", |_| true);
    let point = &responses["sum"]["dataPoints"][0];
    assert_eq!(point["asDouble"].as_f64(), summary["responses"].as_f64(), "{point}");
    assert_eq!(point["attributes"][0]["key"], "status");
    let service = &body["resourceMetrics"][0]["resource"]["attributes"][0]["value"];
    assert_eq!(service["stringValue"], "headworks-load");
    let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let latency = metrics.iter().find(|metric| metric["name"] == "headworks_load_latency_seconds").unwrap();
    assert_eq!((&latency["unit"], &latency["histogram"]["aggregationTemporality"]), (&"s".into(), &2.into()));
}

#[test]
fn what_a_collector_does_not_take_is_said_and_changes_nothing() {
    let (_server, url) = origin();
    let collector = Collector::start("503 Service Unavailable");
    let place = format!("http://{}", collector.address());
    let output = Command::new(HEADWORKS)
        .args(["load", &url, "--rate", "200", "--duration", "1s", "--otlp", &place])
        .output()
        .unwrap();
    assert!(has_measured(&output), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("collector: 1 of 1 transmissions were lost: it answers 503"), "{said}");
    let refused = Command::new(HEADWORKS).args(["load", &url, "--otlp", "ftp://x"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
}
