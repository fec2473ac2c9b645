//! Who may use the admin interface.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::common::{Gate, echo};
use testkit::{Raw, Response};

#[track_caller]
fn ask(gate: &Gate, request: &str, headers: &str) -> Response {
    Raw::connect(gate.admin)
        .send(format!("{request} HTTP/1.1\r\n{headers}Content-Length: 0\r\n\r\n"))
        .response()
}

/// A gate with this in `[admin]`, and tokens of `ops` and, to read, of `prom`.
#[track_caller]
fn gate(directory: &Path, upstream: std::net::SocketAddr, admin: &str) -> Gate {
    let tokens = "# of this test\nops ops-0123456789abcdef\n\nprom prom-0123456789abcdef read-only\n";
    std::fs::write(directory.join("tokens"), tokens).unwrap();
    Gate::administered(upstream, directory, &format!("[admin]\nlisten = '127.0.0.1:0'\n{admin}"))
}

#[test]
fn without_a_token_nobody_is_answered() {
    let (server, directory) = (echo(""), tempfile::tempdir().unwrap());
    let gate = gate(directory.path(), server.address(), "token-file = 'tokens'\n");
    let host = "Host: 127.0.0.1\r\n";
    for path in ["/metrics", "/api/v1/state", "/api/v1/openapi.json", "/nothing"] {
        let refused = ask(&gate, &format!("GET {path}"), host);
        assert_eq!(
            (refused.status, refused.header("www-authenticate")),
            (401, Some("Bearer realm=\"headworks\""))
        );
    }
    let bearer = |token: &str| format!("{host}Authorization: Bearer {token}\r\n");
    assert_eq!(ask(&gate, "GET /metrics", &bearer("ops-0123456789abcdeg")).status, 401);
    assert_eq!(ask(&gate, "GET /metrics", &bearer("ops-0123456789abcdef")).status, 200);
    assert_eq!(ask(&gate, "GET /metrics", &bearer("prom-0123456789abcdef")).status, 200);
    assert_eq!(ask(&gate, "DELETE /api/v1/sessions/1/class", &bearer("prom-0123456789abcdef")).status, 403);
    assert_eq!(ask(&gate, "DELETE /api/v1/sessions/1/class", &bearer("ops-0123456789abcdef")).status, 200);
}

#[test]
fn nobody_listens_to_the_world_without_a_token() {
    let settings = gate::Settings::new("127.0.0.1:0".parse().unwrap(), "127.0.0.1:1").unwrap();
    let world = settings.administered("0.0.0.0:0".parse().unwrap());
    let error = gate::Bound::new(world).unwrap_err().to_string();
    assert!(error.contains("would obey everybody"), "{error}");
}

#[test]
fn tokens_are_read_again() {
    let (server, directory) = (echo(""), tempfile::tempdir().unwrap());
    let gate = gate(directory.path(), server.address(), "token-file = 'tokens'\n");
    let with = |token: &str| format!("Host: localhost\r\nAuthorization: Bearer {token}\r\n");
    let (old, new) = (with("ops-0123456789abcdef"), with("new-0123456789abcdef"));
    std::fs::write(directory.path().join("tokens"), "ops new-0123456789abcdef\n").unwrap();
    assert_eq!(ask(&gate, "GET /api/v1/knobs", &new).status, 401);
    let difference = ask(&gate, "GET /api/v1/reload", &old);
    let hidden = "{\"setting\":\"admin tokens\",\"old\":\"\",\"new\":\"\"}";
    assert!(difference.text().contains(hidden), "what is secret is not shown: {}", difference.text());
    assert!(!difference.text().contains("0123456789abcdef"));
    assert_eq!(ask(&gate, "POST /api/v1/reload", &old).status, 200);
    assert_eq!(
        (ask(&gate, "GET /api/v1/knobs", &new).status, ask(&gate, "GET /api/v1/knobs", &old).status),
        (200, 401)
    );
}

#[test]
fn names_of_others_and_pages_of_others_are_refused() {
    let (server, directory) = (echo(""), tempfile::tempdir().unwrap());
    let gate = gate(directory.path(), server.address(), "hosts = 'Gate.example'\n");
    let own = format!("Host: {}\r\n", gate.admin);
    for (headers, status) in [
        (own.clone(), 200),
        ("Host: gate.EXAMPLE:9090\r\n".to_owned(), 200),
        ("Host: attacker.example\r\n".to_owned(), 421),
        (format!("{own}Origin: http://attacker.example\r\n"), 403),
        (format!("{own}Origin: http://{}\r\n", gate.admin), 200),
        (String::new(), 400),
    ] {
        assert_eq!(ask(&gate, "GET /api/v1/knobs", &headers).status, status, "{headers}");
    }
}

#[test]
fn a_socket_needs_no_token_and_lets_only_its_owner_in() {
    let (server, directory) = (echo(""), tempfile::tempdir().unwrap());
    let settings = "token-file = 'tokens'\nsocket = 'admin.sock'\n";
    let first = gate(directory.path(), server.address(), settings);
    let path = directory.path().join("admin.sock");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let ask = || {
        let mut socket = UnixStream::connect(&path).unwrap();
        socket.write_all(b"GET /api/v1/knobs HTTP/1.1\r\nHost: gate\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask().starts_with("HTTP/1.1 200 "));
    drop(first);
    // What the one before has left does not keep the next from listening.
    let _second = gate(directory.path(), server.address(), settings);
    assert!(ask().starts_with("HTTP/1.1 200 "));
}

#[test]
fn what_is_not_a_request_is_survived() {
    let (server, directory) = (echo(""), tempfile::tempdir().unwrap());
    let gate = gate(directory.path(), server.address(), "");
    let half = Raw::connect(gate.admin).send("GET /api/v1/sta").stream().try_clone().unwrap();
    for garbage in [
        "\0\0\0\0\r\n\r\n",
        "GET\r\n\r\n",
        "\u{16}\u{3}\u{1}",
        "PATCH /api/v1/knobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n{",
    ] {
        let _ = Raw::connect(gate.admin).send(garbage).finish_sending().until_closed();
    }
    assert_eq!(ask(&gate, "GET /api/v1/knobs", "Host: localhost\r\n").status, 200);
    drop(half);
    let many: Vec<Raw> = (0..100).map(|_| Raw::connect(gate.admin)).collect();
    drop(many);
    testkit::poll_until(testkit::PATIENCE, "an answer after a hundred connections", || {
        let answer = testkit::exchange(
            gate.admin,
            "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        );
        answer.starts_with("HTTP/1.1 200").then_some(())
    });
}
