//! Requests are rebuilt: what reaches the server is the gate's own writing, whatever the client's.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use crate::common::Gate;
use testkit::{Hostile, PATIENCE};

/// A server that shows the bytes of each request as they come, up to the end of its body.
fn recording(end: &'static [u8]) -> (Hostile, Receiver<String>) {
    let (sender, receiver) = channel();
    let sender = Arc::new(Mutex::new(sender));
    let server = Hostile::start(move |mut stream, _| {
        let mut request = Vec::new();
        let mut piece = [0; 4096];
        while !request.ends_with(end) {
            let Ok(length @ 1..) = stream.read(&mut piece) else { return };
            request.extend_from_slice(&piece[..length]);
        }
        sender.lock().unwrap().send(String::from_utf8(request).unwrap()).unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    });
    (server, receiver)
}

/// What the server gets for `sent`: the first line, the other lines in order, and the body.
fn rebuilt(sent: &str, end: &'static [u8]) -> (String, Vec<String>, String) {
    let (server, requests) = recording(end);
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    assert_eq!(client.send(sent).response().status, 200, "{sent:?}");
    let request = requests.recv_timeout(PATIENCE).unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines = head.split("\r\n").map(str::to_owned);
    let first = lines.next().unwrap();
    let mut lines: Vec<String> = lines.collect();
    lines.sort_unstable();
    (first, lines, body.to_owned())
}

#[test]
fn a_head_is_written_anew() {
    let sent = "\r\nGET HTTP://Test:80/a?b HTTP/1.0\r\nhOST: \t test \t\r\nX-a:  one\ttwo \t\r\nX-A:three\r\n\
                Connection: x-b, Keep-Alive\r\nX-B: 1\r\nKeep-Alive: 5\r\nProxy-Connection: a\r\n\r\n";
    let (first, lines, body) = rebuilt(sent, b"\r\n\r\n");
    assert_eq!((first.as_str(), body.as_str()), ("GET /a?b HTTP/1.1", ""));
    let expected = [
        "host: Test:80",
        "via: 1.0 headworks",
        "x-a: one\ttwo",
        "x-a: three",
        "x-forwarded-for: 127.0.0.1",
        "x-forwarded-host: Test:80",
        "x-forwarded-proto: http",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_body_is_framed_anew() {
    let head = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: CHUNKED\r\n\r\n";
    let chunks = "000003;name=\"a value\"\r\nabc\r\n1\r\nd\r\n0;last=1\r\n\r\n";
    let (_, lines, body) = rebuilt(&format!("{head}{chunks}"), b"abcd");
    // It has come as a whole before it goes on, so its length is known.
    assert!(lines.contains(&"content-length: 4".to_owned()), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("transfer-encoding")), "{lines:?}");
    assert_eq!(body, "abcd");

    let (_, lines, body) = rebuilt("POST / HTTP/1.1\r\nHost: t\r\ncontent-LENGTH:\t3 \r\n\r\nabc", b"abc");
    assert!(lines.contains(&"content-length: 3".to_owned()), "{lines:?}");
    assert_eq!(body, "abc");
}

#[test]
fn what_is_refused_never_reaches_the_server() {
    let (server, requests) = recording(b"never");
    let gate = Gate::start(server.address(), "");
    for sent in [
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        "GET /\r\n",
    ] {
        let answer = testkit::exchange(gate.address, sent);
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("connection: close"), "{answer}");
    }
    let metrics = gate.ask("GET", "/metrics", "").text().to_owned();
    for reason in ["length", "chunk", "request-line"] {
        let line = format!("headworks_gate_malformed_total{{reason=\"{reason}\"}} 1\n");
        assert!(metrics.contains(&line), "{line} in {metrics}");
    }
    assert_eq!(gate.state()["connections"]["upstream"], 0);
    assert!(requests.try_recv().is_err());
}

/// A body that goes wrong when part of it is at the server already is cut off there, so that the
/// server cannot take it for a whole one, and the client is told what it did.
#[test]
fn a_body_that_goes_wrong_late_is_cut_off() {
    let (server, _requests) = recording(b"never");
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    client.send(format!("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}"));
    gate.wait_for("the request to be in service", |state| state["in_service"] == 1);
    client.send("1\nx\r\n0\r\n\r\n");
    let response = client.response();
    assert_eq!((response.status, response.text()), (400, "A chunk of the request's body is malformed.\n"));
    assert_eq!(client.until_closed(), b"");
    gate.wait_for("the place", |state| state["in_service"] == 0);
}
