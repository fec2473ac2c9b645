//! What happens is told to those who listen, and what operators do is recorded.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use crate::common::{Gate, Held, echo, request};
use serde_json::Value;
use testkit::{PATIENCE, Raw, poll_until};

/// Somebody who listens.
struct Listener(BufReader<TcpStream>);

impl Listener {
    #[track_caller]
    fn start(gate: &Gate) -> Self {
        let mut stream = TcpStream::connect(gate.admin).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut listener = Self(BufReader::new(stream));
        assert!(listener.line().starts_with("HTTP/1.1 200"));
        while !listener.line().starts_with(": listening") {}
        listener
    }

    #[track_caller]
    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
        line
    }

    /// The data of the next event of that name.
    #[track_caller]
    fn event(&mut self, name: &str) -> Value {
        loop {
            if self.line() == format!("event: {name}\n") {
                let line = self.line();
                return serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap();
            }
        }
    }
}

#[test]
fn changes_say_who_what_and_from_what_to_what() {
    let server = echo("");
    let gate = Gate::start(server.address(), "favour = 0.25");
    let (mut one, mut other) = (Listener::start(&gate), Listener::start(&gate));
    assert_eq!(gate.ask("PATCH", "/api/v1/knobs", "{\"favour\": 0.75}").status, 200);
    assert_eq!(gate.ask("PATCH", "/api/v1/knobs", "{\"favour\": 7}").status, 400);
    assert_eq!(gate.ask("POST", "/api/v1/sessions/ab/class", "{\"class\": \"premium\"}").status, 200);
    for listener in [&mut one, &mut other] {
        let moved = listener.event("knobs");
        assert_eq!((&moved["old"]["favour"], &moved["new"]["favour"]), (&0.25.into(), &0.75.into()));
        assert!(moved["who"].as_str().unwrap().starts_with("127.0.0.1:"));
        let set = listener.event("class");
        assert_eq!((&set["what"], &set["old"]), (&"class of session 00000000000000ab".into(), &Value::Null));
        assert_eq!(set["new"], "premium");
    }
}

#[test]
fn refusals_and_failures_are_told_as_sums() {
    let server = Held::start();
    let gate = Gate::start(
        server.address(),
        "window = 1\n[limits]\nclass-queues = 1\ndiscard-queues = 0\ndiscard-periods = 0\n",
    );
    let mut listener = Listener::start(&gate);
    let mut clients: Vec<Raw> = (0..20).map(|_| gate.connect()).collect();
    for client in &mut clients {
        client.send(request("/", ""));
    }
    let refused = listener.event("rejections");
    let total = refused["total"].as_u64().unwrap();
    let sum: u64 = refused["classes"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|reasons| reasons.as_object().unwrap().values())
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert!(total > 0 && total == sum, "{refused}");

    let nowhere = testkit::free_address();
    let gate = Gate::start(nowhere, "");
    let mut listener = Listener::start(&gate);
    assert!(gate.get("/", "").status >= 500);
    assert_eq!(listener.event("upstream")["state"], "failing");
}

#[test]
fn only_some_can_listen_and_who_leaves_makes_room() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let mut listeners: Vec<Listener> = (0..8).map(|_| Listener::start(&gate)).collect();
    assert_eq!(gate.ask("GET", "/api/v1/events", "").status, 503);
    assert_eq!(gate.ask("GET", "/api/v1/knobs", "").status, 200, "others are answered all the same");
    listeners.pop();
    poll_until(PATIENCE, "a place to listen", || {
        let answer =
            Raw::connect(gate.admin).send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").head();
        answer.starts_with("HTTP/1.1 200").then_some(())
    });
}

#[test]
fn who_does_not_read_is_dropped() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let mut deaf = TcpStream::connect(gate.admin).unwrap();
    rustix::net::sockopt::set_socket_recv_buffer_size(&deaf, 4096).unwrap();
    deaf.write_all(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut operator = Raw::connect(gate.admin);
    // Enough for the sockets' buffers on both sides and the events kept for one listener.
    let body = "{\"favour\": 0.5}";
    let patch = format!(
        "PATCH /api/v1/knobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut ended = false;
    for _ in 0..400 {
        for _ in 0..100 {
            operator.send(&patch);
        }
        for _ in 0..100 {
            assert_eq!(operator.response().status, 200);
        }
        ended = gate.state()["event_listeners"] == 0;
        if ended {
            break;
        }
    }
    assert!(ended, "a listener that reads nothing is still there");
}
