//! How much of what a request may have, as configured.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::path::Path;

use crate::common::{Gate, echo};

/// The status that `request` gets from a gate with these limits.
fn status(gate: &Gate, request: &str) -> u16 {
    gate.connect().send(request).response().status
}

#[test]
fn smaller_limits_hold() {
    let server = echo("");
    let limits = "head = '1KiB'\nuri = 300\nheader = 256\nheaders = 10\ntrailers = 0\nchunk-line = 16";
    let gate = Gate::start(server.address(), &format!("[strictness]\n{limits}\n"));
    let get = |target: &str, lines: &str| {
        status(&gate, &format!("GET /{target} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n{lines}\r\n"))
    };
    let line = |length: usize| format!("A: {}\r\n", "a".repeat(length - 3));
    assert_eq!((get(&"a".repeat(299), ""), get(&"a".repeat(300), "")), (200, 414));
    assert_eq!((get("", &line(256)), get("", &line(257))), (200, 431));
    assert_eq!((get("", &"A: b\r\n".repeat(8)), get("", &"A: b\r\n".repeat(9))), (200, 431));
    assert_eq!((get("", &line(200).repeat(4)), get("", &line(250).repeat(4))), (200, 431));

    let post = |chunks: &str| {
        let head = "POST / HTTP/1.1\r\nHost: t\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
        status(&gate, &format!("{head}{chunks}"))
    };
    assert_eq!(post("1;aaaaaaaaaaaaa\r\na\r\n0\r\n\r\n"), 200);
    assert_eq!(post("1;aaaaaaaaaaaaaa\r\na\r\n0\r\n\r\n"), 400);
    assert_eq!(post("0\r\nA: b\r\n\r\n"), 431);
}

#[test]
fn larger_limits_are_not_in_hyper_s_way() {
    let server = echo("");
    let limits = "head = '256KiB'\nuri = '60KiB'\nheader = '100KiB'\nheaders = 1000";
    let gate = Gate::start(server.address(), &format!("[strictness]\n{limits}\n"));
    let line = format!("A: {}\r\n", "a".repeat(90_000));
    let many = "B: b\r\n".repeat(990);
    let request =
        format!("GET /{} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n{line}{many}\r\n", "a".repeat(60_000));
    let response = gate.connect().send(request).response();
    assert_eq!(response.status, 200, "{}", response.head);
    let seen = response.text();
    assert_eq!((seen.matches("a: aaaa").count(), seen.matches("b: b\r\n").count()), (1, 990));
}

#[test]
fn what_cannot_be_is_named() {
    for (limits, message) in [
        ("head = '1MiB'", "gate.toml:4: head cannot be 1048576; give 1024 to 262144"),
        ("head = 100", "gate.toml:4: head cannot be 100; give 1024 to 262144"),
        ("head = '2KiB'\nuri = '4KiB'", "gate.toml:5: uri cannot be 4096; give 256 to 2048"),
        ("header = '64KiB'", "gate.toml:4: header cannot be 65536; give 256 to 32768"),
        ("headers = 5", "gate.toml:4: headers cannot be 5; give 10 to 1000"),
        ("chunk-line = 0", "gate.toml:4: chunk-line cannot be 0; give 16 to 4096"),
        (
            "trailers = 'much'",
            "gate.toml:4: cannot read \"much\": expected a size such as 200, 50k, 20KiB or 5MB",
        ),
    ] {
        let text = format!("listen = '127.0.0.1:0'\nupstream = 'a:1'\n[strictness]\n{limits}\n");
        let source = config::Source::new("gate.toml", text);
        let error = gate::Settings::from_source(&source, Path::new(".")).unwrap_err();
        assert_eq!(error.to_string(), message, "{limits}");
    }
}
