//! `headworks gate` where the machine is against it: few descriptors, a clock that is set.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use testkit::{PATIENCE, Process, Raw, open_descriptors, poll_until};

const CLASSES: &str = "[[class]]\nname = 'premium'\n[[class]]\nname = 'basic'\n\
                       [[rule]]\nclass = 'premium'\ncookie = 'tier=premium'\n";

fn origin() -> (origin::Server, String) {
    let options = origin::Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..origin::Options::new(origin::Mode::Workers)
    };
    let server = origin::Server::start(&options).unwrap();
    let address = server.address().to_string();
    (server, address)
}

/// A configuration file in `directory`, and the command that takes it.
fn command(directory: &Path, upstream: &str) -> String {
    let file = directory.join("gate.toml");
    let keys = "session.secret = 'a secret that is long enough'\n";
    let text = format!("listen = '127.0.0.1:0'\nupstream = '{upstream}'\n{keys}{CLASSES}");
    fs::write(&file, text).unwrap();
    format!("exec {} gate --config {}", env!("CARGO_BIN_EXE_headworks"), file.display())
}

/// A gate that may have 256 descriptors; what it needs is dropped with it.
struct Few {
    gate: Process,
    address: SocketAddr,
    admin: SocketAddr,
    _server: origin::Server,
    _directory: TempDir,
}

impl Few {
    fn start() -> Self {
        let (server, upstream) = origin();
        let directory = tempfile::tempdir().unwrap();
        let script = format!("ulimit -n 256; {}", command(directory.path(), &upstream));
        let mut gate = Process::start(Command::new("sh").args(["-c", &script]));
        let address = gate.wait_for_address("listening on ");
        let admin = gate.wait_for_address("admin on ");
        Self { gate, address, admin, _server: server, _directory: directory }
    }
}

fn premium(address: SocketAddr, cookie: &str) -> testkit::Response {
    let request = format!("GET /bytes/100 HTTP/1.1\r\nHost: t\r\nCookie: {cookie}\r\n\r\n");
    Raw::connect(address).send(request).response()
}

#[test]
fn with_256_descriptors_a_flood_of_slow_clients_shuts_nobody_out() {
    let Few { mut gate, address, admin, _server, _directory } = Few::start();
    let stop = Arc::new(AtomicBool::new(false));
    let flood = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let words = [
                "",
                "GET / HTTP/1.1\r\nHo",
                "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n1",
                "GET /bytes/50000000 HTTP/1.1\r\nHost: t\r\n\r\n",
            ];
            let mut open = std::collections::VecDeque::new();
            for turn in 0.. {
                let mut client = Raw::connect(address);
                client.send(words[turn % words.len()]);
                open.push_back(client);
                if open.len() > 500 {
                    open.pop_front();
                }
                if stop.load(Ordering::Acquire) {
                    return;
                }
            }
        }
    });
    for number in 0..100 {
        let response = premium(address, "tier=premium");
        assert_eq!((response.status, response.body.len()), (200, 100), "request {number}");
        assert!(open_descriptors(gate.id()) <= 256);
    }
    stop.store(true, Ordering::Release);
    flood.join().unwrap();
    let metrics = Raw::connect(admin).get("/metrics").response();
    assert!(metrics.text().contains("headworks_gate_descriptors_limit 256\n"), "{}", metrics.text());
    assert_eq!(gate.terminate().code(), Some(143));
}

/// RFC 9113 section 4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A client of HTTP/2 that asks for 100 things at once and reads nothing: `turn` says of what kind.
fn hundred_streams(turn: usize) -> Vec<u8> {
    const HEADERS: u8 = 1;
    const END: u8 = 1 | 4;
    const UNFINISHED: u8 = 4;
    let (method, path, flags) = [
        (b"\x82", "/bytes/100", END),
        (b"\x82", "/bytes/50000000", END),
        (b"\x83", "/bytes/100", UNFINISHED),
        (b"\x82", "/burn?cpu=1ms", END),
    ][turn % 4];
    // Names of the static table, values as they are: RFC 7541 section 6.2.2 and appendix A.
    let text = |name: u8, value: &str| [&[name, value.len() as u8], value.as_bytes()].concat();
    let head = [&method[..], b"\x86", &text(0x04, path), &text(0x01, "t")].concat();
    let streams = (0..100).map(|number| frame(HEADERS, flags, 2 * number + 1, &head));
    let hello = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &frame(4, 0, 0, &[])[..]].concat();
    std::iter::once(hello).chain(streams).flatten().collect()
}

#[test]
fn with_256_descriptors_a_burst_of_streams_shuts_nobody_out() {
    let Few { mut gate, address, admin, _server, _directory } = Few::start();
    let first = premium(address, "tier=premium");
    let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let stop = Arc::new(AtomicBool::new(false));
    let flood = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let mut open = std::collections::VecDeque::new();
            for turn in 0.. {
                let mut client = Raw::connect(address);
                client.send(hundred_streams(turn));
                // Its first frame, or its end: who waits to be accepted is not overtaken.
                let _ = client.stream().read(&mut [0]);
                open.push_back(client);
                if open.len() > 400 {
                    open.pop_front();
                }
                if stop.load(Ordering::Acquire) {
                    return turn;
                }
            }
            0
        }
    });
    let metric = |name: &str| {
        let page = Raw::connect(admin).get("/metrics").response();
        let value = page.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("no {name} in {}", page.text())).parse::<f64>().unwrap()
    };
    poll_until(PATIENCE, "many streams", || (metric("headworks_gate_http2_streams") > 500.0).then_some(()));
    for number in 0..50 {
        let response = premium(address, &cookie);
        assert_eq!((response.status, response.body.len()), (200, 100), "request {number}");
        assert!(open_descriptors(gate.id()) <= 256);
    }
    stop.store(true, Ordering::Release);
    assert!(flood.join().unwrap() > 10);
    assert_eq!(premium(address, &cookie).status, 200);
    poll_until(PATIENCE, "the streams to be forgotten", || {
        let left = ["headworks_gate_http2_streams", "headworks_gate_in_service"].map(metric);
        eprintln!("{left:?} streams and requests inside are left");
        (left == [0.0; 2]).then_some(())
    });
    assert_eq!(premium(address, "tier=premium").status, 200, "a new session");
    assert_eq!(gate.terminate().code(), Some(143));
}

/// Where Debian has libfaketime; none, with the reason on standard error, when it is not
/// installed, and a panic then where the environment says `CI`.
fn faketime() -> Option<PathBuf> {
    let places = fs::read_dir("/usr/lib").unwrap().flatten();
    let found =
        places.map(|place| place.path().join("faketime/libfaketime.so.1")).find(|file| file.is_file());
    if found.is_none() {
        let reason = "libfaketime is not installed; install it with: apt-get install libfaketime";
        testkit::skip(&reason);
    }
    found
}

#[test]
fn a_clock_that_is_set_ends_no_session_and_stops_nothing() {
    let Some(library) = faketime() else { return };
    let (_server, upstream) = origin();
    let directory = tempfile::tempdir().unwrap();
    let clock = directory.path().join("clock");
    fs::write(&clock, "+0\n").unwrap();
    let mut gate = Process::start(
        Command::new("sh")
            .args(["-c", &command(directory.path(), &upstream)])
            .env("LD_PRELOAD", library)
            .env("FAKETIME_TIMESTAMP_FILE", &clock)
            .env("FAKETIME_NO_CACHE", "1")
            // As in reality: the clock that counts from the start of the machine is never set.
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1"),
    );
    let address = gate.wait_for_address("listening on ");
    let admin = gate.wait_for_address("admin on ");
    let first = premium(address, "tier=premium");
    let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    for step in ["+800d", "-800d", "+0"] {
        fs::write(&clock, format!("{step}\n")).unwrap();
        let mut kept = Raw::connect(address);
        for _ in 0..3 {
            let request = format!("GET /bytes/100 HTTP/1.1\r\nHost: t\r\nCookie: {cookie}\r\n\r\n");
            let response = kept.send(request).response();
            assert_eq!(response.status, 200, "{step}");
            // The session goes on: it is neither over nor due to be renewed.
            assert_eq!(response.header("set-cookie"), None, "{step}");
        }
        let metrics = Raw::connect(admin).get("/metrics").response();
        assert_eq!(metrics.status, 200, "{step}");
        if step == "+800d" {
            // It is felt where the wall clock is shown.
            let year = |response: &testkit::Response| {
                let date = response.header("date").unwrap();
                date.split(' ').nth(3).unwrap().parse::<i32>().unwrap()
            };
            poll_until(PATIENCE, "another date", || {
                let lost = Raw::connect(admin).get("/nowhere").response();
                (year(&lost) >= year(&first) + 2).then_some(())
            });
        }
    }
    assert_eq!(gate.terminate().code(), Some(143));
}
