//! What a refused client is shown.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::{Gate, Held};
use testkit::{Raw, Response};

/// A gate that refuses everything but two requests, and these two.
fn full(server: &Held, reject: &str) -> (Gate, Vec<Raw>) {
    let more = format!(
        "window = 1\ndifferentiation = 0\n[limits]\nclass-queues = 1\ndiscard-queues = 0\ndiscard-periods = 0\n[reject]\n{reject}"
    );
    let gate = Gate::start(server.address(), &more);
    let mut held = vec![gate.connect(), gate.connect()];
    held[0].send(crate::common::request("/", ""));
    assert_eq!(server.next(), "/");
    held[1].send(crate::common::request("/", ""));
    gate.wait_for_queue(1);
    (gate, held)
}

#[track_caller]
fn refused(gate: &Gate, method: &str, accept: &str) -> Response {
    let request =
        format!("{method} / HTTP/1.1\r\nHost: test\r\nAccept: {accept}\r\nContent-Length: 0\r\n\r\n");
    let response = gate.connect().send(request).response();
    assert_eq!((response.status, response.header("cache-control")), (503, Some("no-store")));
    response
}

#[test]
fn a_browser_gets_a_page_that_comes_back_by_itself() {
    let server = Held::start();
    let (gate, _held) = full(&server, "waiting-page = 'built-in'\nretry-after = '9s'\njitter = '0s'\n");
    let page = refused(&gate, "GET", "text/html,*/*;q=0.8");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("retry-after"), Some("9"));
    assert!(page.text().contains("<meta http-equiv=\"refresh\" content=\"9\">"), "{}", page.text());
    assert!(page.text().contains("now: 1<"), "{}", page.text());
    let form = refused(&gate, "POST", "text/html");
    assert!(!form.text().contains("http-equiv=\"refresh\""), "a form is not sent again by itself");
}

#[test]
fn programs_get_what_they_read() {
    let server = Held::start();
    let (gate, _held) = full(&server, "retry-after = '9s'\njitter = '0s'\n");
    let problem = refused(&gate, "GET", "application/json");
    assert_eq!(problem.header("content-type"), Some("application/problem+json"));
    let problem: serde_json::Value = serde_json::from_slice(&problem.body).unwrap();
    assert_eq!((&problem["status"], &problem["retry_after"]), (&503.into(), &9.into()));
    let text = refused(&gate, "GET", "*/*");
    assert_eq!(text.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(text.text().contains("9 seconds"));
    let page = refused(&gate, "GET", "text/html");
    assert!(page.text().starts_with("<!doctype html>") && !page.text().contains("refresh"));
}

#[test]
fn a_page_of_ones_own_is_filled_in() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("wait.html"), "{{refresh}}in {{seconds}} s, {{waiting}} wait")
        .unwrap();
    let server = Held::start();
    let text = format!(
        "listen = '127.0.0.1:0'\nupstream = '{}'\nwindow = 1\ndifferentiation = 0\n[limits]\nclass-queues = 1\ndiscard-queues = 0\ndiscard-periods = 0\n[reject]\nwaiting-page = 'wait.html'\nretry-after = '3s'\njitter = '0s'\n",
        server.address()
    );
    let gate = Gate::run(&text, directory.path());
    let mut held = [gate.connect(), gate.connect()];
    held[0].send(crate::common::request("/", ""));
    assert_eq!(server.next(), "/");
    held[1].send(crate::common::request("/", ""));
    gate.wait_for_queue(1);
    let page = refused(&gate, "GET", "text/html");
    assert_eq!(page.text(), "<meta http-equiv=\"refresh\" content=\"3\">in 3 s, 1 wait");
}
