//! Garbage, requests that break off, and more of everything than anybody needs.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

use crate::corpus;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;

use crate::common::tls::Identity;
use crate::common::{Gate, echo, origin, request};
use testkit::{PATIENCE, Raw};

/// What is at no time a request.
fn garbage() -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = corpus::all().into_iter().map(|case| case.bytes).collect();
    pieces.push((0..=255u8).cycle().take(100_000).collect());
    pieces.push(vec![0; 100_000]);
    pieces.push(b"\r\n".repeat(50_000));
    pieces.push([&b"GET /"[..], &[b'a'; 1 << 20]].concat());
    pieces.push([&b"GET / HTTP/1.1\r\nHost: localhost\r\n"[..], &b"a: b\r\n".repeat(100_000)].concat());
    pieces.push([&b"POST /api/v1/knobs HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &[b'['; 100_000]].concat());
    pieces
}

#[test]
fn the_admin_interface_survives_what_is_no_request() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    for piece in garbage() {
        // It answers or closes; it neither hangs nor stops.
        gate.connect_admin().send(&piece).finish_sending().until_closed();
    }
    for body in ["", "{", "[]", "null", "{\"favour\": 1e999}", &"[".repeat(100_000)] {
        let refused = gate.ask("PATCH", "/api/v1/knobs", body);
        assert!((400..500).contains(&refused.status), "{body:.20}: {}", refused.head);
    }
    // What could be read in two ways is not read here either: no proxy with another view of it
    // lets somebody past.
    let two = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n\
               PATCH /api/v1/knobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}";
    let mut admin = gate.connect_admin();
    admin.send(two);
    assert_eq!([admin.response().status, admin.response().status], [200, 400]);
    assert_eq!(admin.until_closed(), b"");
    // As many connections as it takes, all of them silent: clients do not notice.
    let silent: Vec<Raw> = (0..100).map(|_| gate.connect_admin()).collect();
    assert_eq!(gate.get("/bytes/1", "").status, 200);
    drop(silent);
    gate.wait_for("the state", |state| state["in_service"] == 0);
}

#[test]
fn every_listener_survives_what_is_no_request() {
    let (server, identity, directory) =
        (echo(""), Identity::new(&["localhost"]), tempfile::tempdir().unwrap());
    let path = directory.path().join("gate.sock");
    let listeners = format!(
        "[[listener]]\naddress = '127.0.0.1:0'\nprotocols = 'h2'\n\
         [[listener]]\naddress = '127.0.0.1:0'\nproxy-protocol = '127.0.0.1'\n\
         [[listener]]\naddress = 'unix:{}'\n{}",
        path.display(),
        identity.listener()
    );
    let gate = Gate::start(server.address(), &listeners);
    let places: Vec<SocketAddr> =
        gate.urls.iter().filter_map(|url| url.split_once("://")?.1.parse().ok()).collect();
    assert_eq!(places.len(), 4);
    for piece in garbage() {
        for place in &places {
            Raw::connect(*place).send(&piece).finish_sending().until_closed();
            Raw::connect(*place).send(&piece[..piece.len() / 2]);
        }
        let mut local = UnixStream::connect(&path).unwrap();
        local.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = local.write_all(&piece);
        let _ = local.shutdown(Shutdown::Write);
        let ended = std::io::copy(&mut local, &mut std::io::sink());
        assert!(!ended.is_err_and(|why| why.kind() == ErrorKind::WouldBlock), "{:.80}", piece.escape_ascii());
    }
    gate.wait_for("nobody to be left", |state| {
        state["connections"]["clients"] == 0 && state["in_service"] == 0
    });
    assert_eq!(gate.get("/", "").status, 200);
}

#[test]
fn requests_that_break_off_leave_nothing_behind() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    for case in corpus::all() {
        let length = case.bytes.len();
        for end in [1, length / 3, length / 2, length - 1] {
            let mut client = gate.connect();
            client.send(&case.bytes[..end]);
            // Every second one is closed with bytes unread, which resets it.
            if end % 2 == 0 {
                client.finish_sending().until_closed();
            }
        }
    }
    gate.wait_for("nobody to be left", |state| {
        let queues = &state["queues"];
        let waiting = ["acceptor", "pending", "discard", "class"].map(|stage| queues[stage].as_u64());
        state["connections"]["clients"] == 0
            && state["in_service"] == 0
            && waiting.iter().all(|length| *length == Some(0))
    });
    assert_eq!(gate.get("/", "").status, 200);
}

#[test]
fn a_thousand_rules_are_looked_at() {
    let server = echo("");
    let mut rules = String::from("explain = 'on'\n");
    for number in 0..1000 {
        let class = if number == 999 { "premium" } else { "basic" };
        writeln!(
            rules,
            "[[rule]]\nclass = '{class}'\npath = ['/{number}/', '*.{number}']\nhost = '*.example{number}.com'\ncookie = 'c{number}=*1*'"
        )
        .unwrap();
    }
    let gate = Gate::start(server.address(), &rules);
    for (number, class) in [(0, "basic"), (998, "basic"), (999, "premium")] {
        let sent = format!(
            "GET /a.{number} HTTP/1.1\r\nHost: www.example{number}.com\r\nCookie: c{number}=212\r\n\r\n"
        );
        let response = gate.connect().send(sent).response();
        assert_eq!((response.status, response.header("headworks-class")), (200, Some(class)), "{number}");
    }
    let many: Vec<Raw> = (0..50)
        .map(|_| {
            let mut client = gate.connect();
            client.send(request("/none/of/them", "Cookie: a=b\r\n"));
            client
        })
        .collect();
    for mut client in many {
        assert_eq!(client.response().status, 200);
    }
}
