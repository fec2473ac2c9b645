//! HTTP as clients speak it, well and badly.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read, Write};

use crate::common::{Gate, echo, origin, read_head, request};
use testkit::{Hostile, Raw};

#[test]
fn requests_share_a_connection_and_may_be_pipelined() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    let mut client = gate.connect();
    for length in [3, 70_000, 0, 5] {
        assert_eq!(client.get(&format!("/bytes/{length}")).response().body.len(), length);
    }
    let both = request("/bytes/7", "") + &request("/bytes/11", "");
    client.send(both);
    assert_eq!([client.response().body.len(), client.response().body.len()], [7, 11]);
}

#[test]
fn head_has_the_length_and_no_body() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    let mut client = gate.connect();
    let head = client.send("HEAD /bytes/1234 HTTP/1.1\r\nHost: test\r\n\r\n").head();
    assert!(head.to_lowercase().contains("content-length: 1234"), "{head}");
    assert_eq!(client.get("/bytes/2").response().body.len(), 2);
}

#[test]
fn http_1_0_is_answered_and_closed() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    let answer = testkit::exchange(gate.address, "GET /bytes/5 HTTP/1.0\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
}

#[test]
fn a_client_that_says_that_it_is_done_is_not_waited_for() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    let last = request("/bytes/70000", "Connection: x, Close\r\n");
    let waited_for = request("/bytes/70000", "");
    for (asked, more) in [
        (last.as_str(), 0),
        ("GET /bytes/70000 HTTP/1.0\r\n\r\n", 0),
        // One that does not keep its word gets all of its response nevertheless.
        (last.as_str(), 100_000),
        (&(waited_for.clone() + &waited_for + &last), 0),
    ] {
        let mut client = gate.connect();
        client.send(asked).send("x".repeat(more));
        let wanted = asked.matches("GET").count();
        let answer = String::from_utf8(client.until_closed()).unwrap();
        assert!(answer.len() > wanted * 70_000, "{} bytes of {asked}", answer.len());
        assert_eq!(answer.matches("HTTP/1.").count(), wanted, "{asked}");
        if more == 0 {
            // It has not closed yet.
            gate.wait_for("the connection to be gone", |state| state["connections"]["clients"] == 0);
        }
    }
}

/// Reads a chunked request and answers with how much came.
fn measuring() -> Hostile {
    Hostile::start(|mut stream, _| {
        while let Some(head) = read_head(stream) {
            assert!(head.to_lowercase().contains("transfer-encoding: chunked"), "{head}");
            let mut body = Vec::new();
            let mut piece = [0; 4096];
            while !body.ends_with(b"\r\n0\r\n\r\n") {
                let Ok(length @ 1..) = stream.read(&mut piece) else { return };
                body.extend_from_slice(&piece[..length]);
            }
            let letters = body.iter().filter(|byte| **byte == b'x').count().to_string();
            let answer = format!(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{letters}\r\n0\r\n\r\n",
                letters.len()
            );
            stream.write_all(answer.as_bytes()).unwrap();
        }
    })
}

#[test]
fn chunked_bodies_stream_both_ways() {
    let server = measuring();
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    client.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    for _ in 0..100 {
        client.send(format!("3e8\r\n{}\r\n", "x".repeat(1000)));
    }
    let answer = client.send("0\r\n\r\n").until_closed();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\r\n6\r\n100000\r\n"), "{answer}");
}

#[test]
fn a_client_that_asks_first_is_told_to_go_on_when_it_is_admitted() {
    let server = measuring();
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    client.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n");
    assert!(client.head().starts_with("HTTP/1.1 100"));
    let answer = client.send("1\r\nx\r\n0\r\n\r\n").until_closed();
    assert!(String::from_utf8(answer).unwrap().starts_with("HTTP/1.1 200"));
}

#[test]
fn the_upstream_sees_the_client_and_not_what_was_for_the_gate() {
    let server = echo("Connection: x-secret\r\nX-Secret: 1\r\nKeep-Alive: timeout=5\r\n");
    let gate = Gate::start(server.address(), "");
    let first =
        gate.get("/a?b=c", "Connection: X-Hop\r\nX-Hop: 1\r\nUpgrade: h2c\r\nX-Forwarded-For: 10.1.1.1\r\n");
    let seen = first.text().to_lowercase();
    assert!(seen.starts_with("get /a?b=c http/1.1"), "{seen}");
    for line in
        ["host: test", "x-forwarded-for: 127.0.0.1\r\n", "x-forwarded-proto: http", "via: 1.1 headworks"]
    {
        assert!(seen.contains(line), "{line} in {seen}");
    }
    for word in ["x-hop", "upgrade", "connection"] {
        assert!(!seen.contains(word), "{word} in {seen}");
    }
    assert_eq!(first.header("x-secret").or(first.header("keep-alive")), None, "{}", first.head);

    let again = gate.get("/", &crate::common::session(&first).replace("Cookie: ", "Cookie: a=1; "));
    let seen = again.text().to_lowercase();
    assert!(seen.contains("cookie: a=1\r\n") && !seen.contains("headworks="), "{seen}");
}

#[test]
fn what_cannot_be_relayed_is_refused() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    for (sent, status) in [
        ("complete garbage\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
        ("CONNECT host:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ] {
        let answer = testkit::exchange(gate.address, sent);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{sent:?}: {answer}");
    }
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX-Long: {}\r\n\r\n", "x".repeat(100_000));
    let answer = testkit::exchange(gate.address, long);
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    let many: String = (0..300).map(|n| format!("X-{n}: 1\r\n")).collect();
    let answer = testkit::exchange(gate.address, format!("GET / HTTP/1.1\r\nHost: a\r\n{many}\r\n"));
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert_eq!(gate.get("/bytes/1", "").status, 200);
}

#[test]
fn half_requests_are_given_up() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "[client]\nheader-timeout = '200ms'\nidle-timeout = '300ms'\n");
    let mut slow = gate.connect();
    let told = String::from_utf8(slow.send("GET / HTTP/1.1\r\nHo").until_closed()).unwrap();
    assert!(told.starts_with("HTTP/1.1 408"), "{told}");
    let mut idle = gate.connect();
    assert_eq!(idle.get("/bytes/1").response().status, 200);
    assert_eq!(idle.until_closed(), b"");
    let mut silent = Raw::connect(gate.address);
    assert_eq!(silent.until_closed(), b"");
    let mut gone = gate.connect();
    assert_eq!(gone.send("GET / HT").finish_sending().until_closed(), b"");
}

#[test]
fn uploads_and_downloads_that_stall_are_given_up() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "[client]\nstall-timeout = '200ms'\n");
    // Takes nothing of a response larger than all buffers on the way.
    let mut download = gate.connect();
    download.get("/bytes/50000000");
    gate.wait_for("the download to be given up", |state| {
        state["connections"]["clients"] == 0 && state["in_service"] == 0
    });
    let sent = download.until_closed();
    assert!(sent.len() < 50_000_000, "{} bytes", sent.len());

    let sink = Hostile::start(|mut stream, _| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let gate = Gate::start(sink.address(), "[client]\nstall-timeout = '200ms'\n");
    let mut upload = gate.connect();
    upload.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf");
    assert_eq!(upload.response().status, 408);
    assert_eq!(upload.until_closed(), b"");
    gate.wait_for("the upload to be given up", |state| state["in_service"] == 0);
}
