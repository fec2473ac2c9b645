//! `headworks load` keeps no more of a hostile server's answer than it needs.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::thread;

use record::Summary;
use testkit::{Hostile, Process, follow_memory};

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

/// What a run of a few connections may take, libraries and receive buffers included.
const MAX_BYTES: u64 = 128 << 20;
/// The same without the buffers that are lent to the kernel.
const MAX_BYTES_EPOLL: u64 = 64 << 20;

/// A run of clients that are sent `start`, and then `more` without end, takes little memory.
#[track_caller]
fn check(start: &'static [u8], more: &'static [u8], arguments: &[&str]) -> Summary {
    let server = Hostile::start(move |stream, _| pour(stream, start, more));
    let mut process = Process::start(
        Command::new(HEADWORKS)
            .args(["load", &format!("http://{}/", server.address())])
            .args(["-c", "8", "--duration", "700ms", "--timeout", "300ms", "--quiet", "--json"])
            .args(arguments),
    );
    let pid = process.id();
    let memory = thread::spawn(move || follow_memory(pid));
    let text = process.wait_for_line("{");
    process.wait();
    let peak = memory.join().unwrap();
    let most = if arguments.contains(&"epoll") { MAX_BYTES_EPOLL } else { MAX_BYTES };
    assert!(peak > 1 << 20 && peak < most, "{peak} bytes");
    let summary: Summary = serde_json::from_str(&format!("{{{text}")).unwrap();
    assert!(summary.requests >= 8 && summary.responses == 0, "{:?}", summary.errors);
    summary
}

fn pour(mut stream: &TcpStream, start: &[u8], more: &[u8]) {
    let block = more.repeat(64 * 1024 / more.len());
    let _ = stream.read(&mut [0; 1024]);
    let _ = stream.write_all(&[start, &block].concat());
    while stream.write_all(&block).is_ok() {}
}

#[test]
fn heads_and_bodies_without_end() {
    for engine in ["io_uring", "epoll"] {
        let engine = ["--engine", engine];
        let summary = check(b"HTTP/1.1 200 OK\r\n", b"X-Padding: xxxxxxxxxxxxxxxx\r\n", &engine);
        assert_eq!(summary.errors.protocol, summary.requests);
        let summary = check(b"HTTP/1.1 200 OK\r\n\r\n", b"x", &engine);
        assert_eq!(summary.errors.timeout, summary.requests, "{:?}", summary.errors);
        assert!(summary.bytes > 1_000_000, "{}", summary.bytes);
    }
}

#[test]
fn other_parts_without_end() {
    check(b"", b"HTTP/1.1 100 Continue\r\n\r\n", &[]);
    check(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", &[]);
    check(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n", &[]);
    check(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x", &[]);
    check(b"HTTP/1.1 200 OK\r\nX: ", b"x", &["--expect-body", "y"]);
    check(b"HTTP/1.1 200 OK\r\n\r\n", b"x", &["--expect-body", "y"]);
    check(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"more than that", &[]);
}

#[test]
fn http2_without_end() {
    // SETTINGS, and the head of a response that goes on in CONTINUATION frames
    // (RFC 9113, sections 6.5, 6.2 and 6.10) of a literal field each.
    const START: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\0\0\0\0\x01\x88";
    const MORE: &[u8] = b"\0\0\x10\x09\0\0\0\0\x01\0\x01x\x0cxxxxxxxxxxxx";
    // The stream's window, 4 MiB, ends this.
    const DATA: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88";
    const MORE_DATA: &[u8] = b"\0\0\x04\0\0\0\0\0\x01xxxx";
    const PINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
    const MORE_PINGS: &[u8] = b"\0\0\x08\x06\0\0\0\0\0xxxxxxxx";
    for (start, more) in [(START, MORE), (DATA, MORE_DATA), (PINGS, MORE_PINGS)] {
        for engine in ["io_uring", "epoll"] {
            check(start, more, &["--http", "2", "--engine", engine]);
        }
    }
}
