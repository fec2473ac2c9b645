//! The gate's HTTP/2 against h2spec, which sends what RFC 7540 and RFC 7541 allow and what not.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod common;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::tls::Identity;
use common::{Gate, echo};

/// The program, or the reason why the test is not run; where the environment says `CI`, a panic.
fn h2spec() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/bin/h2spec");
    if program.is_file() {
        return Some(program);
    }
    let reason = "h2spec is not there; install it with: tools/need h2spec";
    testkit::skip(&reason);
    None
}

#[track_caller]
fn check(port: u16, more: &[&str]) {
    let Some(program) = h2spec() else { return };
    let output = Command::new(program)
        .args(["--host", "127.0.0.1", "--port", &port.to_string(), "--timeout", "5"])
        .args(more)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failures = said.find("Failures:").map_or("", |at| &said[at..]);
    let counts = said.lines().rev().find(|line| line.contains("passed")).unwrap_or_default();
    assert!(output.status.success() && counts.contains(" 0 failed"), "{counts}\n{failures}");
    let passed: u32 = counts
        .split_whitespace()
        .zip(counts.split_whitespace().skip(1))
        .find_map(|(number, what)| what.starts_with("passed").then(|| number.parse().ok()).flatten())
        .unwrap();
    assert!(passed > 140, "{counts}");
}

#[test]
fn cleartext_with_prior_knowledge() {
    let server = echo("");
    // One that speaks HTTP/1 as well answers in that to a client that begins with something else.
    let gate = Gate::start(server.address(), "[[listener]]\naddress = '127.0.0.1:0'\nprotocols = 'h2'\n");
    let listener: SocketAddr = gate.urls[1].strip_prefix("http://").unwrap().parse().unwrap();
    check(listener.port(), &[]);
}

#[test]
fn over_tls() {
    let server = echo("");
    let identity = Identity::new(&["localhost"]);
    let gate = Gate::start(server.address(), &identity.listener());
    check(gate.secure().port(), &["--tls", "--insecure"]);
}
