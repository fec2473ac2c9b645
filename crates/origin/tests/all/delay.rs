//! Delays: never too short, parts that come apart, and no worker held when the server stops.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

use crate::common::{MODES, connect, start};
use origin::Mode;
use testkit::{PATIENCE, Response};

/// Milliseconds between the arrival and the response, as the server tells them.
fn before_ms(response: &Response) -> f64 {
    let timing = response.header("server-timing").unwrap();
    timing.strip_prefix("before;dur=").unwrap().parse().unwrap()
}

#[test]
fn a_response_takes_as_long_as_was_asked_and_says_so() {
    let server = start(Mode::Workers, 1);
    let mut client = connect(&server);
    let started = Instant::now();
    let response = client.get("/delay?before=50ms&bytes=10000&pieces=5&between=10ms").response();
    let elapsed = started.elapsed();
    assert_eq!((response.status, response.body.len()), (200, 10_000));
    let before = before_ms(&response);
    assert!(before >= 50.0 && before <= elapsed.as_secs_f64() * 1e3, "{before} of {elapsed:?}");
    assert!(elapsed >= Duration::from_millis(50 + 4 * 10), "{elapsed:?}");
    // The same bytes as without a delay, and nothing left over on the connection.
    assert_eq!(client.get("/bytes/10000").response().body, response.body);

    let at_once = client.get("/delay").response();
    assert_eq!((at_once.status, at_once.body.len()), (200, 0));
    assert!(before_ms(&at_once) >= 0.0);
}

#[test]
fn pipelined_delays_are_kept_one_after_the_other() {
    let server = start(Mode::Workers, 1);
    let mut client = connect(&server);
    let started = Instant::now();
    for _ in 0..3 {
        client.get("/delay?before=20ms&bytes=3&pieces=3&between=1ms");
    }
    for _ in 0..3 {
        assert!(before_ms(&client.response()) >= 20.0);
    }
    assert!(started.elapsed() >= Duration::from_millis(3 * (20 + 2)));
}

#[test]
fn the_head_comes_with_the_first_part_and_the_rest_later() {
    let server = start(Mode::Workers, 1);
    let mut client = connect(&server);
    // The first part is more than goes into one write with the head.
    let head = client.get("/delay?bytes=100000&pieces=2&between=50s").head();
    assert!(head.contains("Content-Length: 100000"), "{head}");
    client.stream().set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut first = Vec::new();
    let end = client.stream().read_to_end(&mut first).unwrap_err();
    assert_eq!(end.kind(), ErrorKind::WouldBlock);
    // Some of the first part was read together with the head.
    client.stream().set_read_timeout(Some(PATIENCE)).unwrap();
    server.stop();
    let early = client.until_closed();
    assert_eq!(first.len() + early.len(), 50_000, "and the second never comes");
}

#[test]
fn a_head_is_held_back_as_its_body_would_be() {
    let server = start(Mode::Workers, 1);
    let request = "HEAD /delay?before=20ms&bytes=100&pieces=10&between=5s HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut client = connect(&server);
    let head = client.send(request).head();
    assert!(head.contains("Content-Length: 100") && head.contains("Server-Timing: before;dur="), "{head}");
    assert_eq!(client.get("/healthz").response().text(), "ok\n");
}

#[test]
fn what_is_asked_wrongly_is_told_what_is_allowed() {
    let server = start(Mode::Workers, 1);
    let refusal = connect(&server).get("/delay?before=61s").response();
    assert_eq!(refusal.status, 400);
    assert!(refusal.text().contains("at most 60s"), "{}", refusal.text());
    let server = start(Mode::Static, 1);
    let refusal = connect(&server).get("/delay").response();
    assert_eq!(refusal.status, 404);
    assert!(refusal.text().contains("--mode workers"), "{}", refusal.text());
}

#[test]
fn other_responses_tell_no_times() {
    for mode in MODES {
        let server = start(mode, 1);
        assert_eq!(connect(&server).get("/bytes/1").response().header("server-timing"), None, "{mode:?}");
    }
}
