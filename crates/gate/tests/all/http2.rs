//! HTTP/2 in front of the gate: every stream is a request of its own.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use crate::common::tls::{Body, get, h2, run, start, text};
use crate::common::{Gate, Held, echo, origin};
use hyper::client::conn::http2::SendRequest;
use hyper::{Method, Request, StatusCode};
use testkit::{PATIENCE, poll_until};
use tokio::net::TcpStream;

type Client = SendRequest<Body>;

fn connect(gate: &Gate) -> Client {
    run(async { h2(TcpStream::connect(gate.address).await.unwrap()).await })
}

#[test]
fn streams_share_a_connection() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "window = 3\n");
    let client = connect(&gate);
    let answers: Vec<_> = (0..50)
        .map(|length| {
            let answer = client.clone().send_request(get(&format!("http://test/bytes/{length}")));
            (length, start(answer))
        })
        .collect();
    for (length, answer) in answers {
        let response = run(answer).unwrap().unwrap();
        assert_eq!((response.status(), run(text(response)).len()), (StatusCode::OK, length));
    }
    let state = gate.state();
    assert_eq!((&state["classes"][1]["finished"], &state["connections"]["clients"]), (&50.into(), &1.into()));
}

#[test]
fn the_server_gets_http_1_1() {
    let server = echo("Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n");
    let gate = Gate::start(server.address(), "");
    let mut client = connect(&gate);
    let request = Request::get("http://shop.example/a?b=c")
        .header("cookie", "a=1")
        .header("cookie", "b=2")
        .header("x-forwarded-for", "10.1.1.1")
        .header("te", "trailers");
    let response = run(client.send_request(request.body(Body::default()).unwrap())).unwrap();
    for name in ["connection", "keep-alive"] {
        assert!(!response.headers().contains_key(name), "{response:?}");
    }
    let seen = run(text(response)).to_lowercase();
    assert!(seen.starts_with("get /a?b=c http/1.1\r\n"), "{seen}");
    for line in [
        "host: shop.example\r\n",
        "cookie: a=1; b=2\r\n",
        "x-forwarded-for: 127.0.0.1\r\n",
        "x-forwarded-proto: http\r\n",
        "via: 2.0 headworks\r\n",
    ] {
        assert!(seen.contains(line), "{line} in {seen}");
    }
    let confused = Request::get("http://shop.example/").header("host", "other.example");
    let response = run(client.send_request(confused.body(Body::default()).unwrap())).unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
}

#[test]
fn bodies_go_both_ways() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    let mut client = connect(&gate);
    let mut ask = |request| run(client.send_request(request)).unwrap();
    let large = Request::post("http://test/bytes/3000000").body(Body::from(vec![b'x'; 3_000_000])).unwrap();
    assert_eq!(run(text(ask(large))).len(), 3_000_000);
    let response = ask(Request::head("http://test/bytes/1234").body(Body::default()).unwrap());
    assert_eq!(response.headers()["content-length"], "1234");
    assert_eq!(run(text(response)), "");
    let tunnel = Request::builder().method(Method::CONNECT).uri("test:80").body(Body::default()).unwrap();
    assert_eq!(ask(tunnel).status(), StatusCode::NOT_IMPLEMENTED);
    assert_eq!(run(text(ask(get("http://test/bytes/3")))).len(), 3);
}

#[test]
fn a_stream_that_is_reset_is_forgotten() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "window = 1\n");
    let mut client = connect(&gate);
    let first = start(client.send_request(get("http://test/first")));
    assert_eq!(server.next(), "/first");
    let second = start(client.send_request(get("http://test/second")));
    gate.wait_for_queue(1);
    second.abort();
    gate.wait_for_queue(0);
    server.release();
    assert_eq!(run(text(run(first).unwrap().unwrap())), "/first");
    assert_eq!((server.waiting(), &gate.state()["classes"][1]["aborted"]), (0, &1.into()));
}

#[test]
fn a_refusal_leaves_the_other_streams_alone() {
    let server = Held::start();
    let gate = Gate::start(
        server.address(),
        "window = 1\n[limits]\nclass-queues = 1\ndiscard-queues = 0\ndiscard-periods = 0\n[reject]\nclose = 'always'\n",
    );
    let mut client = connect(&gate);
    let first = start(client.send_request(get("http://test/first")));
    assert_eq!(server.next(), "/first");
    let second = start(client.send_request(get("http://test/second")));
    gate.wait_for_queue(1);
    for method in [Method::GET, Method::HEAD] {
        let request =
            Request::builder().method(&method).uri("http://test/third").body(Body::default()).unwrap();
        let response = run(client.send_request(request)).unwrap();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(response.headers().contains_key("retry-after"), "{response:?}");
        assert!(!response.headers().contains_key("connection"), "{response:?}");
        assert_eq!(run(text(response)).is_empty(), method == Method::HEAD);
    }
    for (answer, path) in [(first, "/first"), (second, "/second")] {
        server.release();
        assert_eq!(run(text(run(answer).unwrap().unwrap())), path);
    }
}

#[test]
fn requests_in_hand_end_before_the_gate_does() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "");
    let mut client = connect(&gate);
    let answer = start(client.send_request(get("http://test/last")));
    assert_eq!(server.next(), "/last");
    let address = gate.address;
    let stopped = std::thread::spawn(move || drop(gate));
    poll_until(PATIENCE, "the listener to be closed", || std::net::TcpStream::connect(address).err());
    server.release();
    assert_eq!(run(text(run(answer).unwrap().unwrap())), "/last");
    stopped.join().unwrap();
    assert_eq!(server.waiting(), 0);
}

#[test]
fn idle_connections_are_told_to_go() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "[client]\nidle-timeout = '200ms'\n");
    let mut client = connect(&gate);
    assert_eq!(run(client.send_request(get("http://test/bytes/1"))).unwrap().status(), StatusCode::OK);
    gate.wait_for("the connection to be closed", |state| state["connections"]["clients"] == 0);
    assert!(run(client.send_request(get("http://test/bytes/1"))).is_err());
}
