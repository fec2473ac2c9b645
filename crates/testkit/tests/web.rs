//! The real servers: they serve, they log every request, and nothing of them stays.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use testkit::{Apache, LogLine, Mpm, Nginx, PATIENCE, Raw, exchange, poll_until};

fn content() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.txt"), "hello").unwrap();
    directory
}

fn address(url: &str) -> SocketAddr {
    url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// Two requests on one connection and a third on another.
fn ask(url: &str) {
    let mut client = Raw::connect(address(url));
    assert_eq!(client.get("/a.txt").response().text(), "hello");
    assert_eq!(client.get("/\"b").response().status, 404);
    let answer = exchange(address(url), "GET /a.txt HTTP/1.0\r\n\r\n");
    assert!(answer.ends_with("hello"), "{answer}");
}

#[track_caller]
fn check(mut log: Vec<LogLine>, quote: &str) {
    // Two workers of Apache may write their lines in either order.
    log.sort_by_key(|line| line.request.ends_with("HTTP/1.0"));
    let [first, second, third] = &log[..] else { panic!("three requests, and {log:?}") };
    assert_eq!((first.status, first.body_bytes, first.connection_requests), (200, 5, 1));
    assert_eq!(first.request, "GET /a.txt HTTP/1.1");
    assert_eq!(first.request_bytes, 40, "the line, Host: localhost and an empty line");
    assert_eq!((second.status, second.connection_requests), (404, 2));
    assert_eq!(second.request, format!("GET /{quote}b HTTP/1.1"));
    assert_eq!(second.connection, first.connection);
    assert_ne!(third.connection, first.connection);
    assert_eq!((third.connection_requests, third.body_bytes), (1, 5));
    let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() - third.time;
    assert!(age < 2 * PATIENCE, "{age:?}");
}

fn is_gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn nginx_logs_each_request() {
    let content = content();
    let Some(nginx) = Nginx::start(content.path(), "location /gone { return 410; }") else { return };
    ask(nginx.url());
    let pid = nginx.pid();
    check(nginx.stop(), "\\x22");
    assert!(is_gone(pid));
}

#[test]
fn apache_logs_each_request() {
    for processing in [Mpm::Prefork, Mpm::Event] {
        let content = content();
        let Some(apache) = Apache::start(processing, content.path(), "KeepAliveTimeout 20") else { return };
        ask(apache.url());
        let pid = apache.pid();
        check(apache.stop(), "\\\"");
        assert!(is_gone(pid), "{processing:?}");
    }
}

#[test]
fn a_response_under_way_is_finished_and_logged() {
    let content = content();
    fs::write(content.path().join("long"), vec![b'x'; 30_000]).unwrap();
    let Some(nginx) = Nginx::start(content.path(), "limit_rate 20k;") else { return };
    let mut client = Raw::connect(address(nginx.url()));
    client.get("/long");
    let mut first = [0];
    client.stream().read_exact(&mut first).unwrap();
    let stopping = thread::spawn(|| nginx.stop());
    assert!(client.until_closed().len() > 30_000);
    let log = stopping.join().unwrap();
    assert_eq!(log.iter().map(|line| line.body_bytes).sum::<u64>(), 30_000, "{log:?}");
}

#[test]
fn nginx_has_a_unix_socket_and_tls() {
    let content = content();
    let Some(nginx) = Nginx::start(content.path(), "") else { return };
    let mut client = UnixStream::connect(nginx.socket()).unwrap();
    client.write_all(b"GET /a.txt HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("hello"), "{answer}");

    assert_eq!(fs::read_to_string(nginx.certificate_file()).unwrap(), nginx.certificate());
    assert!(nginx.certificate().starts_with("-----BEGIN CERTIFICATE-----"));
    let port = nginx.tls_url().strip_prefix("https://localhost:").unwrap();
    let answer = exchange(format!("127.0.0.1:{port}").parse().unwrap(), "GET / HTTP/1.0\r\n\r\n");
    assert!(answer.contains("plain HTTP request was sent to HTTPS port"), "{answer}");
}

#[test]
fn a_stopped_server_answers_when_it_goes_on() {
    let content = content();
    let Some(nginx) = Nginx::start(content.path(), "") else { return };
    let url = address(nginx.url());
    thread::scope(|scope| {
        let stopping = scope.spawn(|| nginx.stop_for(Duration::from_millis(300)));
        // Answered at once until it is stopped; then a request that is not answered until it is over.
        poll_until(PATIENCE, "a request without an answer", || {
            let mut client = Raw::connect(url);
            client.get("/a.txt").stream().set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            let early = client.stream().peek(&mut [0]);
            let unanswered = matches!(early, Err(error) if error.kind() == ErrorKind::WouldBlock);
            client.stream().set_read_timeout(Some(PATIENCE)).unwrap();
            assert_eq!(client.response().text(), "hello");
            unanswered.then_some(())
        });
        stopping.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "unknown directive \"nonsense\"")]
fn a_configuration_that_is_refused_is_quoted() {
    let content = content();
    if Nginx::start(content.path(), "nonsense;").is_none() {
        panic!("unknown directive \"nonsense\"; or rather: no nginx");
    }
}
