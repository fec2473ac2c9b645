//! The server behind the gate, and everything it can do wrong.

mod common;

use std::io::Write;
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Gate, Held, answer, read_head};
use testkit::{Hostile, PATIENCE, poll_until};

fn origin_at(address: SocketAddr) -> origin::Server {
    let mut options = origin::Options::new(origin::Mode::Workers);
    options.listen = address.into();
    poll_until(PATIENCE, "the port", || origin::Server::start(&options).ok())
}

#[test]
fn a_server_that_dies_and_comes_back() {
    let address = testkit::free_address();
    let gate = Gate::start(address, "");
    let mut client = gate.connect();
    for _ in 0..2 {
        let down = client.get("/bytes/1").response();
        assert_eq!((down.status, down.text()), (502, "The server behind this gate cannot be reached.\n"));
        let server = origin_at(address);
        assert_eq!(client.get("/bytes/1").response().status, 200);
        server.stop();
    }
    assert!(gate.state()["upstream"]["failures"]["connect"].as_u64() >= Some(2));
}

/// A server that sends `bytes` in answer to each request and closes.
fn says(bytes: &'static str) -> Hostile {
    Hostile::start(move |mut stream, _| {
        if read_head(stream).is_some() {
            let _ = stream.write_all(bytes.as_bytes());
        }
        let _ = stream.shutdown(Shutdown::Both);
    })
}

#[test]
fn nonsense_is_a_bad_gateway() {
    for nonsense in [
        "",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ] {
        let server = says(nonsense);
        let gate = Gate::start(server.address(), "");
        assert_eq!(gate.get("/", "").status, 502, "{nonsense:?}");
        let state = gate.wait_for("the place", |state| state["in_service"] == 0);
        assert_eq!(state["upstream"]["failures"]["broken"], 1, "{nonsense:?}");
    }
}

#[test]
fn a_response_cut_short_is_cut_short_for_the_client_too() {
    for response in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nonly this\r\n",
    ] {
        let server = says(response);
        let gate = Gate::start(server.address(), "");
        let got = String::from_utf8(gate.connect().get("/").until_closed()).unwrap();
        assert!(got.starts_with("HTTP/1.1 200"), "{got}");
        assert!(got.contains("only this") && !got.ends_with("0\r\n\r\n"), "{got}");
        gate.wait_for("the place", |state| state["in_service"] == 0);
    }
}

#[test]
fn a_server_that_says_nothing_is_a_gateway_timeout() {
    let server = Held::start();
    let gate = Gate::waiting(server.address(), "200ms", "window = 1");
    let slow = gate.get("/", "");
    assert_eq!((slow.status, slow.text()), (504, "The server behind this gate did not answer in time.\n"));
    gate.wait_for("the place", |state| state["in_service"] == 0);
}

#[test]
fn a_body_that_stops_is_given_up() {
    let server = Hostile::start(|mut stream, _| {
        while read_head(stream).is_some() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this");
        }
    });
    let gate = Gate::waiting(server.address(), "200ms", "");
    let got = gate.connect().get("/").until_closed();
    assert!(got.ends_with(b"only this"));
    gate.wait_for("the place", |state| state["in_service"] == 0);
}

/// A server that answers the first request of a connection and closes at the second.
fn fickle(requests: &Arc<AtomicUsize>) -> Hostile {
    let requests = Arc::clone(requests);
    Hostile::start(move |stream, _| {
        for turn in 0.. {
            let Some(head) = read_head(stream) else { break };
            requests.fetch_add(1, Ordering::SeqCst);
            if turn == 1 || answer(stream, "", &head).is_none() {
                break;
            }
        }
        let _ = stream.shutdown(Shutdown::Both);
    })
}

#[test]
fn a_connection_that_goes_stale_costs_nobody_a_request() {
    let requests = Arc::default();
    let server = fickle(&requests);
    let gate = Gate::waiting(server.address(), "200ms", "");
    let mut client = gate.connect();
    for _ in 0..4 {
        assert_eq!(client.get("/").response().status, 200);
    }
    // What may have been carried out is not repeated.
    let gate = Gate::waiting(server.address(), "200ms", "");
    let mut client = gate.connect();
    assert_eq!(client.get("/").response().status, 200);
    let before = requests.load(Ordering::SeqCst);
    assert_eq!(client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n").response().status, 502);
    assert_eq!(requests.load(Ordering::SeqCst), before + 1);
}

#[test]
fn connections_are_kept_for_a_while_and_then_closed() {
    let server = common::echo("");
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    for _ in 0..10 {
        assert_eq!(client.get("/").response().status, 200);
    }
    assert_eq!(gate.state()["connections"]["upstream"], 1);
    gate.wait_for("the connection to be closed", |state| state["connections"]["upstream"] == 0);
}
