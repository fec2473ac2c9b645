//! Several servers behind the gate: who gets a request, who gets none, and what is asked twice.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::common::{Gate, Held, answer, read_head, request};
use serde_json::Value;
use testkit::{Hostile, free_address};

/// `server = [..]` of an inline table.
fn servers(addresses: &[SocketAddr]) -> String {
    let quoted: Vec<String> = addresses.iter().map(|address| format!("'{address}'")).collect();
    format!("server = [{}], timeout = '20s'", quoted.join(", "))
}

/// A server that answers with its own name.
fn named(name: &'static str) -> Hostile {
    Hostile::start(
        move |stream, _| while read_head(stream).is_some() && answer(stream, "", name).is_some() {},
    )
}

/// What the state says of one server.
fn of(state: &Value, address: SocketAddr) -> Value {
    let servers = state["upstream"]["servers"].as_array().unwrap();
    servers.iter().find(|server| server["address"] == address.to_string()).cloned().unwrap_or_default()
}

#[test]
fn those_equally_busy_take_turns_by_weight() {
    let (one, two) = (named("one"), named("two"));
    let gate = Gate::before(
        &format!("server = ['{}', {{ address = '{}', weight = 3 }}]", one.address(), two.address()),
        "",
    );
    let mut client = gate.connect();
    let twos = (0..40).filter(|_| client.get("/").response().text() == "two").count();
    assert_eq!(twos, 30);
}

#[test]
fn the_one_with_fewer_outstanding_requests_gets_the_next() {
    let (slow, quick) = (Held::start(), named("quick"));
    let gate = Gate::before(&servers(&[slow.address(), quick.address()]), "window = 8");
    // One of the first two lands at the slow server and stays there.
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let mut client = gate.connect();
            client.get("/");
            client
        })
        .collect();
    slow.next();
    for _ in 0..10 {
        gate.wait_for("the quick server to be free", |state| state["in_service"] == 1);
        assert_eq!(gate.get("/", "").text(), "quick");
    }
    drop(waiting);
}

#[test]
fn a_dead_server_costs_nobody_a_request_and_is_left_alone() {
    let (dead, alive) = (free_address(), named("alive"));
    let gate = Gate::before(
        &format!("{}, ejection = {{ failures = 3 }}", servers(&[dead, alive.address()])),
        "window = 8",
    );
    let mut client = gate.connect();
    for _ in 0..20 {
        // A POST as well: nothing of it was sent to the dead one.
        let post = "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(client.send(post).response().status, 200);
    }
    let state = gate.state();
    // The window is for what is there.
    assert_eq!(state["window"], 4);
    assert_eq!(of(&state, dead)["standing"], "ejected", "{state}");
    assert_eq!(of(&state, dead)["requests"], 3);
    assert_eq!(state["upstream"]["retries"], 3);
    assert_eq!(state["upstream"]["failures"]["connect"], 0);
}

#[test]
fn an_ejected_server_comes_back_by_a_trial() {
    let (address, other) = (free_address(), named("other"));
    let ejection = "ejection = { failures = 1, time = '100ms' }";
    let gate = Gate::before(&format!("{}, {ejection}", servers(&[address, other.address()])), "");
    let mut client = gate.connect();
    for _ in 0..2 {
        assert_eq!(client.get("/").response().text(), "other");
    }
    assert!(of(&gate.state(), address)["ejections"].as_u64() >= Some(1));
    let mut options = origin::Options::new(origin::Mode::Workers);
    options.listen = address.into();
    let server = testkit::poll_until(testkit::PATIENCE, "the port", || origin::Server::start(&options).ok());
    gate.wait_for("the server to be back", |state| {
        assert_eq!(gate.get("/bytes/1", "").status, 200);
        of(state, address)["standing"] == "up"
    });
    server.stop();
}

#[test]
fn the_only_server_is_never_left_alone() {
    let dead = free_address();
    let gate = Gate::before(&format!("address = '{dead}', ejection = {{ failures = 1, share = 0.9 }}"), "");
    for _ in 0..5 {
        assert_eq!(gate.get("/", "").status, 502);
    }
    assert_eq!(of(&gate.state(), dead)["standing"], "up");
}

/// A server that resets each connection after it has read a request.
fn broken(requests: &Arc<AtomicUsize>) -> Hostile {
    let requests = Arc::clone(requests);
    Hostile::start(move |stream, _| {
        read_head(stream);
        requests.fetch_add(1, Ordering::SeqCst);
    })
}

#[test]
fn what_may_be_repeated_is_asked_of_another_server() {
    let (asked, other): (Arc<AtomicUsize>, _) = (Arc::default(), named("other"));
    let broken = broken(&asked);
    let never = "ejection = { share = 0 }";
    let gate = Gate::before(&format!("{}, {never}", servers(&[broken.address(), other.address()])), "");
    let mut client = gate.connect();
    for _ in 0..10 {
        assert_eq!(client.get("/").response().text(), "other");
    }
    let before = asked.load(Ordering::SeqCst);
    // What may have been carried out is not.
    let posts = (0..4)
        .map(|_| client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n").response().status);
    let mut statuses: Vec<u16> = posts.collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 502, 502]);
    assert_eq!(asked.load(Ordering::SeqCst), before + 2);
}

#[test]
fn retries_end_where_the_budget_does() {
    let (asked, other): (Arc<AtomicUsize>, _) = (Arc::default(), named("other"));
    let broken = broken(&asked);
    let rules = "ejection = { share = 0 }, retry = { share = 0, least = 0 }";
    let gate = Gate::before(&format!("{}, {rules}", servers(&[broken.address(), other.address()])), "");
    let mut client = gate.connect();
    let failed = (0..10).filter(|_| client.get("/").response().status == 502).count();
    assert_eq!(failed, 5);
    let state = gate.state();
    assert_eq!((&state["upstream"]["retries"], &state["upstream"]["retries_denied"]), (&0.into(), &5.into()));
}

/// A server whose page for checks says what it is told to say.
fn checked(well: &Arc<AtomicBool>) -> Hostile {
    let well = Arc::clone(well);
    Hostile::start(move |mut stream, _| {
        while let Some(head) = read_head(stream) {
            let ill = head.starts_with("GET /health") && !well.load(Ordering::SeqCst);
            let status = if ill { "503 Ill" } else { "200 OK" };
            let response = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nme");
            if stream.write_all(response.as_bytes()).is_err() {
                break;
            }
        }
    })
}

#[test]
fn a_server_that_fails_its_checks_gets_nothing_until_it_passes_them() {
    let well = Arc::new(AtomicBool::new(true));
    let (one, other) = (checked(&well), named("other"));
    let check = "check = { path = '/health', interval = '20ms', healthy = 2, unhealthy = 2 }";
    let gate = Gate::before(&format!("{}, {check}", servers(&[one.address(), other.address()])), "");
    let mut client = gate.connect();
    let mine =
        |client: &mut testkit::Raw| (0..10).filter(|_| client.get("/").response().text() == "me").count();
    assert!(mine(&mut client) >= 4);
    well.store(false, Ordering::SeqCst);
    gate.wait_for("the server to be ill", |state| of(state, one.address())["standing"] == "ill");
    assert!(of(&gate.state(), one.address())["checks"]["failed"].as_u64() >= Some(2));
    assert_eq!(mine(&mut client), 0);
    well.store(true, Ordering::SeqCst);
    gate.wait_for("the server to be well", |state| of(state, one.address())["standing"] == "up");
    assert!(mine(&mut client) >= 4);
    let metrics = gate.connect_admin().get("/metrics").response();
    let line = format!("headworks_gate_server_up{{server=\"{}\"}} 1", one.address());
    assert!(metrics.text().contains(&line), "{}", metrics.text());
}

#[test]
fn when_no_server_passes_its_checks_all_are_asked() {
    let well = Arc::new(AtomicBool::new(false));
    let (one, two) = (checked(&well), checked(&well));
    let check = "check = { path = '/health', interval = '20ms', unhealthy = 1 }";
    let gate = Gate::before(&format!("{}, {check}", servers(&[one.address(), two.address()])), "");
    for server in [&one, &two] {
        gate.wait_for("the server to be ill", |state| of(state, server.address())["standing"] == "ill");
    }
    assert_eq!(gate.get("/", "").text(), "me");
    assert_eq!(gate.state()["upstream"]["last_resort"], 1);
}

#[test]
fn a_client_that_breaks_off_does_not_make_a_server_look_bad() {
    let (one, two) = (named("one"), named("two"));
    let rules = "ejection = { failures = 1, share = 1 }";
    let gate = Gate::before(&format!("{}, {rules}", servers(&[one.address(), two.address()])), "");
    for _ in 0..6 {
        // More than is read before the request goes to the server.
        let mut client = gate.connect();
        client
            .send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n")
            .send("x".repeat(100_000));
        drop(client);
    }
    gate.wait_for("the places", |state| state["in_service"] == 0 && state["connections"]["clients"] == 0);
    let state = gate.state();
    for server in [&one, &two] {
        let server = of(&state, server.address());
        assert_eq!((&server["standing"], &server["failures"]), (&"up".into(), &0.into()), "{state}");
    }
}

#[test]
fn a_response_from_one_server_is_never_followed_by_that_of_another() {
    // The first says less than it promised, and the client must not get the rest from the second.
    let short = Hostile::start(|mut stream, _| {
        if read_head(stream).is_some() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this");
        }
    });
    let other = named("other");
    let never = "ejection = { share = 0 }";
    let gate = Gate::before(&format!("{}, {never}", servers(&[short.address(), other.address()])), "");
    for _ in 0..2 {
        let got = gate.connect().send(request("/", "Connection: close\r\n")).until_closed();
        let got = String::from_utf8(got).unwrap();
        assert!(got.ends_with("\r\n\r\nonly this") || got.ends_with("\r\n\r\nother"), "{got}");
    }
    assert_eq!(of(&gate.state(), short.address())["failures"], 1);
}

#[test]
fn a_client_that_asks_first_sends_its_body_to_the_server_that_is_there() {
    let measuring = Hostile::start(|mut stream, _| {
        while let Some(head) = read_head(stream) {
            assert!(head.to_lowercase().contains("expect: 100-continue"), "{head}");
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
            let mut body = [0; 5];
            if std::io::Read::read_exact(&mut stream, &mut body).is_err()
                || answer(stream, "", std::str::from_utf8(&body).unwrap()).is_none()
            {
                return;
            }
        }
    });
    let gate = Gate::before(&servers(&[free_address(), measuring.address()]), "");
    let mut client = gate.connect();
    for _ in 0..4 {
        client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
        assert!(client.head().starts_with("HTTP/1.1 100"));
        assert_eq!(client.send("hello").response().text(), "hello");
    }
}
