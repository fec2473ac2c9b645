//! Who is served when not everybody can be.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod common;

use std::io::Write;

use common::{Gate, Held, request, session};

const PREMIUM: &str = "Cookie: tier=premium\r\n";

#[test]
fn premium_goes_before_basic_when_a_queue_stands() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "window = 1\ndifferentiation = 1");
    let mut clients = vec![gate.connect(), gate.connect()];
    clients[0].get("/first");
    assert_eq!(server.next(), "/first");
    clients[1].send(request("/express", PREMIUM));
    assert_eq!(server.next(), "/express");
    for (waiting, (path, headers)) in
        [("/basic-1", ""), ("/basic-2", ""), ("/premium-1", PREMIUM), ("/premium-2", PREMIUM)]
            .into_iter()
            .enumerate()
    {
        let mut client = gate.connect();
        client.send(request(path, headers));
        clients.push(client);
        gate.wait_for_queue(waiting as u64 + 1);
    }
    // Premium requests are on top of the others. The second may go beside the first, if `/express` has been
    // inside for so long that they are short beside it.
    server.release();
    let next = || {
        server.release();
        server.next()
    };
    let mut premium = [next(), next()];
    premium.sort();
    assert_eq!(premium, ["/premium-1", "/premium-2"]);
    assert_eq!([next(), next()], ["/basic-1", "/basic-2"]);
    server.release();
    for client in &mut clients {
        assert_eq!(client.response().status, 200);
    }
}

#[test]
fn who_is_too_many_is_told_when_to_come_back() {
    let server = Held::start();
    let gate = Gate::start(
        server.address(),
        "window = 1\n[limits]\nclass-queues = 2\ndiscard-periods = 0\n[reject]\nretry-after = '7s'\njitter = '3s'\n",
    );
    let mut inside = gate.connect();
    inside.get("/inside");
    assert_eq!(server.next(), "/inside");
    let mut clients: Vec<_> = (0..12).map(|_| gate.connect()).collect();
    for client in &mut clients {
        client.get("/more");
    }
    let class =
        |state: &serde_json::Value, what: &str| state["classes"][1][what].as_u64().unwrap_or_default();
    let state = gate.wait_for("decisions about all", |state| {
        class(state, "queued") + state["classes"][1]["rejected"]["admission"].as_u64().unwrap_or_default()
            == 12
    });
    let queued = class(&state, "queued");
    assert!((1..=4).contains(&queued), "{state}");
    for _ in 0..=queued {
        server.release();
    }
    let (mut refused, mut answered) = (0, 0);
    for client in &mut clients {
        let response = client.response();
        if response.status == 503 {
            refused += 1;
            let seconds: u32 = response.header("retry-after").unwrap().parse().unwrap();
            assert!((7..=10).contains(&seconds), "{seconds}");
            assert_eq!(response.header("connection"), Some("close"));
            assert_eq!(response.header("set-cookie"), None);
            assert!(response.text().contains("busy"));
            assert_eq!(client.until_closed(), b"");
        } else {
            answered += 1;
        }
    }
    assert_eq!((refused, answered), (12 - queued, queued));
}

#[test]
fn a_refused_upload_still_reads_its_refusal() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "window = 1\n[limits]\nclass-queues = 1\ndiscard-periods = 0\n");
    let mut clients: Vec<_> = (0..2).map(|_| gate.connect()).collect();
    clients[0].get("/inside");
    server.next();
    clients[1].get("/queued");
    gate.wait_for_queue(1);
    let mut upload = gate.connect();
    upload
        .send(format!("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 200000\r\n\r\n{}", "x".repeat(100_000)));
    assert_eq!(upload.response().status, 503);
    // What it had under way is still taken, without a reset that could overtake the refusal.
    for _ in 0..2 {
        upload.stream().write_all(&[b'x'; 50_000]).unwrap();
    }
    assert_eq!(upload.until_closed(), b"");
}

#[test]
fn who_waits_too_long_is_refused() {
    let server = Held::start();
    let gate =
        Gate::start(server.address(), "window = 1\ndifferentiation = 0\n[deadlines]\nclass = '150ms'\n");
    let mut inside = gate.connect();
    inside.get("/inside");
    assert_eq!(server.next(), "/inside");
    assert_eq!(gate.get("/late", "").status, 503);
    assert_eq!(gate.state()["classes"][1]["rejected"]["deadline"], 1);
    server.release();
    assert_eq!(inside.response().status, 200);
}

#[test]
fn a_client_that_goes_while_it_waits_is_forgotten() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "window = 1");
    let mut inside = gate.connect();
    inside.get("/inside");
    assert_eq!(server.next(), "/inside");
    let mut waiting = gate.connect();
    waiting.get("/gone");
    gate.wait_for_queue(1);
    drop(waiting);
    let state = gate.wait_for("the abort", |state| state["classes"][1]["aborted"] == 1);
    assert_eq!(state["queues"]["class"], 0);
    let mut next = gate.connect();
    next.get("/next");
    gate.wait_for_queue(1);
    server.release();
    assert_eq!(server.next(), "/next");
    server.release();
    assert_eq!((inside.response().status, next.response().status), (200, 200));
}

#[test]
fn a_client_that_goes_while_it_is_served_keeps_its_place_until_the_server_is_done() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "window = 1");
    let mut inside = gate.connect();
    inside.get("/gone");
    assert_eq!(server.next(), "/gone");
    drop(inside);
    let state = gate.wait_for("the abort", |state| state["classes"][1]["aborted"] == 1);
    assert_eq!(state["in_service"], 1);
    let mut next = gate.connect();
    next.get("/next");
    gate.wait_for_queue(1);
    assert_eq!(server.waiting(), 0);
    server.release();
    assert_eq!(server.next(), "/next");
    server.release();
    assert_eq!(next.response().status, 200);
    let state = gate.wait_for("an empty gate", |state| state["in_service"] == 0);
    assert_eq!(state["classes"][1]["finished"], 2);
}

#[test]
fn shadow_mode_refuses_nobody() {
    let server = Held::start();
    let limits = "window = 1\nmode = 'shadow'\n[limits]\nclass-queues = 1\ndiscard-periods = 0\n";
    let gate = Gate::start(server.address(), limits);
    let mut clients: Vec<_> = (0..8).map(|_| gate.connect()).collect();
    for client in &mut clients {
        client.get("/");
    }
    for _ in 0..8 {
        server.next();
    }
    let would = gate
        .wait_for("refusals in the counters", |state| state["classes"][1]["rejected"]["admission"].is_u64());
    assert_eq!(would["mode"], "shadow");
    (0..8).for_each(|_| server.release());
    for client in &mut clients {
        assert_eq!(client.response().status, 200);
    }
    gate.wait_for("an empty gate", |state| state["in_service"] == 0);
}

#[test]
fn one_client_cannot_hold_all_places() {
    let server = Held::start();
    let more = "window = 1\nclient-share = 0.5\n[limits]\nacceptor-queue = 4\n";
    let gate = Gate::start(server.address(), more);
    let mut clients: Vec<_> = (0..3).map(|_| gate.connect()).collect();
    clients[0].get("/1");
    server.next();
    clients[1].get("/2");
    gate.wait_for_queue(1);
    assert_eq!(clients[2].get("/3").response().status, 503);
    assert_eq!(gate.state()["unclassified"]["rejected"]["client-share"], 1);
    for client in &mut clients[..2] {
        server.release();
        assert_eq!(client.response().status, 200);
    }
}

#[test]
fn idle_connections_make_room_for_new_ones() {
    let server = common::echo("");
    let gate = Gate::start(server.address(), "[limits]\nconnections = 10\n");
    let mut idle: Vec<_> = (0..30).map(|_| gate.connect()).collect();
    let known = session(&gate.get("/", PREMIUM));
    let state = gate.wait_for("room", |state| state["connections"]["clients"].as_u64() < Some(10));
    assert_eq!(state["connections"]["most"], 10);
    assert_eq!(gate.get("/", &known).status, 200);
    assert_eq!(idle[0].until_closed(), b"");
}

#[test]
fn a_slow_upload_holds_no_place() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "window = 1");
    let mut slow = gate.connect();
    slow.send("POST /slow HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\nhalf");
    for _ in 0..3 {
        let mut quick = gate.connect();
        quick.get("/quick");
        assert_eq!(server.next(), "/quick");
        server.release();
        assert_eq!(quick.response().status, 200);
    }
    slow.send("x".repeat(996));
    assert_eq!(server.next(), "/slow");
    server.release();
    assert_eq!(slow.response().status, 200);
}

#[test]
fn memory_is_watched() {
    let server = common::echo("");
    let gate = Gate::start(server.address(), "[limits]\nmemory = '16MiB'\n");
    gate.wait_for("the pressure", |state| state["pressure"] == 1.0);
    assert_eq!(gate.get("/", PREMIUM).status, 503);
    assert_eq!(gate.state()["unclassified"]["rejected"]["pressure"], 1);
}

/// Of twenty requests of one client and then one of another, which is the other's, counted from the first?
fn served_in_turn(cookies: impl Fn(&Gate, &Held) -> String) -> usize {
    const REQUESTS: u64 = 20;
    let server = Held::start();
    let text = format!(
        "listen = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\nupstream = '{}'\nwindow = 1\n\
         trusted-proxies = '127.0.0.1'\n[[class]]\nname = 'premium'\n[[class]]\nname = 'basic'\n\
         target-queue = 100\n[[raise]]\nclass = 'premium'\npath = '/raise'\n",
        server.address()
    );
    let gate = Gate::run(&text, std::path::Path::new("."));
    let cookies = cookies(&gate, &server);
    let ask = |path: &str, headers: &str, address: &str| {
        let mut client = gate.connect();
        client.send(request(path, &format!("X-Forwarded-For: {address}\r\n{headers}")));
        client
    };
    let mut clients = vec![ask("/inside", "", "192.0.2.1")];
    assert_eq!(server.next(), "/inside");
    clients.push(ask("/other", "", "192.0.2.2"));
    gate.wait_for_queue(1);
    server.release();
    assert_eq!(server.next(), "/other");
    clients.extend((0..REQUESTS).map(|_| ask("/hog", &cookies, "192.0.2.3")));
    // Of what is raised, a few may go beside what is inside.
    gate.wait_for("all to wait", |state| {
        state["queues"]["class"].as_u64().unwrap_or_default() + server.waiting() as u64 == REQUESTS
    });
    clients.push(ask("/visitor", "", "192.0.2.4"));
    gate.wait_for("the visitor to wait", |state| {
        state["queues"]["class"].as_u64().unwrap_or_default() + server.waiting() as u64 == REQUESTS + 1
    });
    let position = (0..=REQUESTS as usize).find(|_| {
        server.release();
        server.next() == "/visitor"
    });
    position.unwrap()
}

#[test]
fn one_client_does_not_shut_another_out() {
    let begun = |gate: &Gate, server: &Held| {
        server.release();
        let begun = gate.get("/", "");
        assert_eq!(server.next(), "/");
        session(&begun)
    };
    let raised = |gate: &Gate, server: &Held| {
        let cookie = begun(gate, server);
        server.release();
        let raised = gate.get("/raise", &cookie);
        assert_eq!(server.next(), "/raise");
        session(&raised)
    };
    let positions = [served_in_turn(|_, _| String::new()), served_in_turn(begun), served_in_turn(raised)];
    assert!(positions.iter().all(|position| *position < 10), "{positions:?}: the last would be 20");
}
