//! Requests that two servers could understand differently: the same verdict in front of every
//! server, and none reaches it twice or split.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

use crate::corpus;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use crate::common::tls::{Body, h2, run};
use crate::common::{Gate, echo};
use crate::corpus::{Case, Verdict};
use hyper::{Request, StatusCode};
use testkit::{Apache, LogLine, Mpm, Nginx, Process, Raw};

/// Sends the whole corpus, each request over a connection of its own and a good one after it.
/// Gives what the server behind must have seen, in order.
fn send_corpus(upstream: SocketAddr) -> Vec<String> {
    let gate = Gate::start(upstream, "");
    let mut seen = Vec::new();
    for case in corpus::all() {
        check(&gate, &case);
        seen.extend(case.seen());
        let path = format!("/after-{}", case.name);
        let after = gate.get(&path, "Connection: close\r\n");
        assert_eq!(after.header("x-seen"), Some(path.as_str()), "after {}: {}", case.name, after.head);
        seen.push(format!("GET {path}"));
    }
    seen
}

fn check(gate: &Gate, case: &Case) {
    let name = &case.name;
    // Shown when something fails further down.
    eprintln!("{name}");
    let mut client = gate.connect();
    client.send(&case.bytes);
    for verdict in &case.expect {
        let response = client.response();
        match verdict {
            Verdict::Pass => {
                let path = format!("/{name}");
                assert_eq!(response.header("x-seen"), Some(path.as_str()), "{name}: {}", response.head);
            }
            Verdict::Refused(status) => {
                assert_eq!(response.status, *status, "{name}: {} {}", response.head, response.text());
                assert_eq!(response.header("connection"), Some("close"), "{name}: {}", response.head);
                assert_eq!(response.header("x-seen"), None, "{name}: {}", response.head);
            }
        }
    }
    let more = client.until_closed();
    assert!(more.is_empty(), "{name}: {}", more.escape_ascii());
}

/// What an access log says was asked, without the version.
fn logged(log: &[LogLine]) -> Vec<String> {
    let asked = |line: &LogLine| line.request.rsplit_once(' ').map(|(asked, _)| asked.to_owned());
    log.iter().map(|line| asked(line).unwrap_or_else(|| panic!("{line:?}"))).collect()
}

fn address(url: &str) -> SocketAddr {
    url.strip_prefix("http://").unwrap().parse().unwrap()
}

#[test]
fn the_corpus_is_large_enough_and_says_both() {
    let cases = corpus::all();
    let passed = cases.iter().filter(|case| case.expect == [Verdict::Pass]).count();
    assert!(cases.len() >= 60 && passed >= 10, "{passed} of {}", cases.len());
}

#[test]
fn nothing_is_smuggled_to_apache() {
    let content = tempfile::tempdir().unwrap();
    let extra = "LoadModule headers_module /usr/lib/apache2/modules/mod_headers.so\n\
                 Header always set X-Seen \"expr=%{REQUEST_URI}\"\n";
    let Some(apache) = Apache::start(Mpm::Event, content.path(), extra) else { return };
    let seen = send_corpus(address(apache.url()));
    assert_eq!(logged(&apache.stop()), seen);
}

#[test]
fn nothing_is_smuggled_to_nginx() {
    let content = tempfile::tempdir().unwrap();
    let location = "location / { add_header X-Seen $request_uri always; return 200 ok; }";
    let Some(nginx) = Nginx::start(content.path(), location) else { return };
    let seen = send_corpus(address(nginx.url()));
    assert_eq!(logged(&nginx.stop()), seen);
}

#[test]
fn nothing_is_smuggled_to_node_and_bodies_are_whole() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/seen.mjs");
    if Command::new("node").arg("--version").output().is_err() {
        let reason = "node is not installed; install it with: apt-get install nodejs";
        testkit::skip(&reason);
        return;
    }
    let mut node = Process::start(Command::new("node").arg(script));
    let upstream = node.wait_for_address("listening on ");
    let expected = send_corpus(upstream);
    let answer = Raw::connect(upstream).get("/seen").response();
    let seen: Vec<serde_json::Value> = serde_json::from_slice(&answer.body).unwrap();
    let requests: Vec<&str> = seen.iter().map(|one| one["request"].as_str().unwrap()).collect();
    assert_eq!(requests, expected);
    for case in corpus::all().iter().filter(|case| case.expect[0] == Verdict::Pass) {
        let request = &case.seen()[0];
        let got = seen.iter().find(|one| one["request"] == request.as_str()).unwrap();
        let body: String = case.body.iter().copied().map(char::from).collect();
        assert_eq!(got["body"], body.as_str(), "{}", case.name);
    }
}

/// HTTP/2 carries in frames what becomes lines for a server of HTTP/1.
#[test]
fn nothing_is_smuggled_in_frames() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let mut client = run(async { h2(tokio::net::TcpStream::connect(gate.address).await.unwrap()).await });
    let mut status = |uri: &str, headers: &[(&str, &str)]| {
        let request =
            headers.iter().fold(Request::post(uri), |request, (name, value)| request.header(*name, *value));
        run(client.send_request(request.body(Body::default()).unwrap())).unwrap().status()
    };
    for (uri, headers) in [
        ("http://a,b/", &[][..]),
        ("http://test/", &[("host", "other")]),
        ("http://test/a\\b", &[]),
        ("http://test/", &[("x_forwarded_for", "10.0.0.1")]),
        ("http://test/", &[("content_length", "5")]),
        ("http://test/", &[("content-length", "0"), ("content-length", "0")]),
    ] {
        assert_eq!(status(uri, headers), StatusCode::BAD_REQUEST, "{uri} {headers:?}");
    }
    assert_eq!(status("http://test/", &[("expect", "much")]), StatusCode::EXPECTATION_FAILED);
    assert_eq!(gate.state()["connections"]["upstream"], 0);
    assert_eq!(status("http://test/a?b", &[("my_header", "1")]), StatusCode::OK);
}
