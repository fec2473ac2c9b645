//! Servers that misbehave: every fault has its name, and the run goes on and ends.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{ok, open, options, options_for, run, web};
use load::{Options, Report};
use record::{ErrorCounts, RequestError, RunDirectory};
use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
use testkit::{Hostile, free_address};
use units::Span;

/// Every request of a run against a server that answers so fails in this way only.
#[track_caller]
fn check(answer: &'static [u8], error: fn(&ErrorCounts) -> u64) {
    let server = Hostile::start(move |mut stream, _| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(answer);
    });
    let Report { summary, .. } = run(&options(server.address()));
    assert!(summary.requests > 0);
    assert_eq!(summary.responses, 0);
    assert_eq!(error(&summary.errors), summary.requests, "{:?}", summary.errors);
}

#[test]
fn garbage_is_a_protocol_error() {
    check(b"\x00\x01\x02\x03 not at all", |errors| errors.protocol);
    check(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", |errors| errors.protocol);
    check(b"220 mail.example.org ESMTP\r\n", |errors| errors.protocol);
}

#[test]
fn a_body_that_ends_early_is_a_body_error() {
    check(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", |errors| errors.body);
    check(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nshort", |errors| errors.body);
}

#[test]
fn a_connection_that_closes_without_a_response_is_a_reset() {
    check(b"", |errors| errors.reset);
    check(b"HTTP/1.1 200 OK\r\nContent-Le", |errors| errors.reset);
}

#[test]
fn content_of_another_length_than_its_path_says_is_a_body_error() {
    let server = web(|_| ok(1999));
    let summary = run(&options_for(server.address(), "/bytes/2000")).summary;
    assert!(summary.errors.body > 0 && summary.errors.body == summary.requests, "{:?}", summary.errors);
    assert!(run(&options_for(server.address(), "/bytes/1999")).summary.responses > 0);
}

#[test]
fn a_head_without_end_costs_neither_memory_nor_the_run() {
    let server = Hostile::start(|mut stream, _| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(b"X-Padding: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n").is_ok() {}
    });
    let summary = run(&options(server.address())).summary;
    assert_eq!(summary.errors.protocol, summary.requests, "{:?}", summary.errors);
}

#[test]
fn a_server_that_stalls_meets_the_timeout() {
    let server = Hostile::start(|mut stream, _| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
        let _ = stream.read(&mut [0; 1024]);
    });
    let options = Options { timeout: Some(Span::from_millis(50)), ..options(server.address()) };
    let summary = run(&options).summary;
    assert!(summary.requests > 0);
    assert_eq!(summary.errors.timeout, summary.requests, "{:?}", summary.errors);
    assert_eq!(summary.censored, summary.requests);
    let total = summary.latency.total;
    assert_eq!(total.count, summary.requests, "what was cut off is in the histogram");
    assert!(total.p50 >= 0.05, "and not below the time it was given: {total:?}");
}

#[test]
fn an_endless_body_meets_the_timeout() {
    let server = Hostile::start(|mut stream, _| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    });
    let options = Options { timeout: Some(Span::from_millis(100)), ..options(server.address()) };
    let summary = run(&options).summary;
    assert_eq!(summary.errors.timeout, summary.requests, "{:?}", summary.errors);
}

#[test]
fn a_port_that_refuses_is_counted_and_said() {
    let report = run(&Options { load: open(100.0, traffic::Process::Constant), ..options(free_address()) });
    assert_eq!(report.summary.requests, 19, "the schedule was kept to");
    assert_eq!(report.summary.errors.connect, 19);
    let why = report.never_connected.as_deref().unwrap();
    assert!(why.contains("refused"), "{why}");
    assert!(report.to_string().contains("not one connection came about"), "{report}");
}

#[test]
fn a_refusal_is_a_response_and_the_run_goes_on() {
    let server = web(|_| b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy".to_vec());
    let summary = run(&options(server.address())).summary;
    assert!(summary.requests > 1);
    assert_eq!(summary.responses, summary.requests);
    assert_eq!(summary.status.get(&503), Some(&summary.requests));
}

#[test]
fn a_kept_connection_that_the_server_closes_is_replaced_without_an_error() {
    let served = AtomicUsize::new(0);
    let server = web(move |_| {
        // Every third response is followed by a close that was not announced.
        if served.fetch_add(1, Ordering::Relaxed) % 3 == 2 { Vec::new() } else { ok(2) }
    });
    let summary = run(&options(server.address())).summary;
    assert!(summary.requests > 10, "{}", summary.requests);
    assert_eq!(summary.errors.total(), 0, "{:?}", summary.errors);
    assert!(summary.connections.opened > 1 && summary.connections.reused > 1, "{:?}", summary.connections);
}

#[test]
fn a_full_accept_queue_shows_as_syns_sent_again() {
    let full = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&full, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&full, 0).unwrap();
    let full = TcpListener::from(full);
    let address = full.local_addr().unwrap();
    let _occupant = TcpStream::connect(address).unwrap();

    let scratch = tempfile::tempdir().unwrap();
    let report = run(&Options {
        // The kernel sends a SYN again after 1 s.
        timeout: Some(Span::from_millis(1500)),
        out: Some(scratch.path().into()),
        ..options(address)
    });
    assert!(report.never_connected.is_some_and(|why| why.contains("timeout")));
    let summary = report.summary;
    assert_eq!(summary.errors.timeout, summary.requests, "{:?}", summary.errors);
    assert!(summary.connections.syn_retransmits >= summary.requests, "{:?}", summary.connections);
    assert_eq!(summary.connections.opened, 0);
    let rows = RunDirectory::open(scratch.path()).unwrap().requests().unwrap().map(Result::unwrap);
    // A client that the end of the run cut off tried once more.
    for row in rows.filter(|row| row.error == Some(RequestError::Timeout)) {
        assert_eq!(row.processing_ns, None, "it never got so far: {row:?}");
        assert!(row.connect_ns >= Span::from_millis(1400), "{row:?}");
    }
}
