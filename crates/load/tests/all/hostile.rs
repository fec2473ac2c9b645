//! Servers that misbehave: every fault has its name, and the run goes on and ends.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::agree::BACKENDS;
use crate::common::{closed, ok, open, options, options_for, run, web};
use load::{Load, Options, Protocol, Report};
use record::{ErrorCounts, RequestError, RunDirectory, Summary};
use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
use testkit::{Hostile, PATIENCE, free_address};
use traffic::Think;
use units::Span;

/// A server that reads something, sends these bytes, piece by piece, and closes.
fn answering(pieces: &'static [&'static [u8]]) -> Hostile {
    Hostile::start(move |mut stream, _| {
        let _ = stream.set_nodelay(true);
        let _ = stream.read(&mut [0; 1024]);
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                std::thread::sleep(Duration::from_millis(3));
            }
            let _ = stream.write_all(piece);
        }
    })
}

/// Every request of a run against a server that answers so fails in this way only.
#[track_caller]
fn check(answer: &'static [&'static [u8]], error: fn(&ErrorCounts) -> u64) {
    for backend in BACKENDS {
        let server = answering(answer);
        let Report { summary, .. } = run(&Options { backend, ..options(server.address()) });
        assert!(summary.requests > 1, "the run goes on");
        assert_eq!(summary.responses, 0);
        assert_eq!(error(&summary.errors), summary.requests - cut(&summary), "{:?}", summary.errors);
    }
}

/// Every request of such a run has a response.
#[track_caller]
fn check_fine(answer: &'static [&'static [u8]], status: u16, bytes: u64) {
    for backend in BACKENDS {
        let server = answering(answer);
        let Report { summary, .. } = run(&Options { backend, ..options(server.address()) });
        assert!(summary.requests > 1, "the run goes on");
        assert_eq!(summary.responses, summary.requests, "{:?}", summary.errors);
        assert_eq!(summary.status.get(&status), Some(&summary.requests), "{:?}", summary.status);
        assert_eq!(summary.bytes, bytes * summary.requests);
    }
}

/// Requests that the end of the run, and not a timeout, cut off.
fn cut(summary: &Summary) -> u64 {
    summary.censored - summary.errors.timeout
}

#[test]
fn garbage_is_a_protocol_error() {
    check(&[b"\x00\x01\x02\x03 not at all"], |errors| errors.protocol);
    check(&[b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"], |errors| errors.protocol);
    check(&[b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"], |errors| {
        errors.protocol
    });
    check(&[b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"], |errors| errors.protocol);
    check(&[b"HTTP/1.1 20 OK\r\n\r\n"], |errors| errors.protocol);
    check(&[b"HTTP/2 200 OK\r\n\r\n"], |errors| errors.protocol);
    check(&[b"220 mail.example.org ESMTP\r\n"], |errors| errors.protocol);
    check(&[b"HT", b"ML\r\n"], |errors| errors.protocol);
}

#[test]
fn a_change_of_protocol_that_nobody_asked_for_is_a_protocol_error() {
    check(&[b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"], |errors| errors.protocol);
}

#[test]
fn a_body_that_ends_early_is_a_body_error() {
    check(&[b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"], |errors| errors.body);
    check(&[b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b"short"], |errors| errors.body);
    check(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nshort"], |errors| errors.body);
    check(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"], |errors| errors.body);
}

/// The head of a response, and more or less of its body than it says.
fn unlike_its_length(length: usize, sent: usize) -> &'static [u8] {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    [head.into_bytes(), vec![b'x'; sent]].concat().leak()
}

#[test]
fn large_bodies_that_end_early_or_go_on_are_body_errors() {
    check(vec![unlike_its_length(100_000, 60_000)].leak(), |errors| errors.body);
    check(vec![unlike_its_length(100_000, 60_000), &[b'x'; 39_999]].leak(), |errors| errors.body);
    for backend in BACKENDS {
        let server = answering(vec![unlike_its_length(40_000, 40_010)].leak());
        let summary = run(&Options { backend, ..options(server.address()) }).summary;
        // As far as what goes on is here when the body has ended.
        assert!(summary.errors.body > 0, "{:?}", summary.errors);
        assert_eq!(summary.errors.total(), summary.errors.protocol + summary.errors.body);
    }
}

#[test]
fn bodies_of_all_sizes_take_turns_on_one_connection() {
    const SIZES: [usize; 7] = [100, 20_000, 100_000, 5, 17_000, 3_000, 1_500_000];
    for backend in BACKENDS {
        for depth in [1, 4] {
            let number = AtomicUsize::new(0);
            let server = web(move |_| ok(SIZES[number.fetch_add(1, Ordering::Relaxed) % SIZES.len()]));
            let protocol = Protocol { pipeline: NonZeroU32::new(depth), ..Protocol::default() };
            let count = Some(20 * SIZES.len() as u64);
            let duration = Span::from_secs(60);
            let options = Options { backend, protocol, count, duration, ..options(server.address()) };
            let Report { summary, .. } = run(&options);
            assert_eq!((summary.requests, summary.responses), (140, 140), "{:?}", summary.errors);
            assert_eq!(summary.bytes, 20 * SIZES.iter().sum::<usize>() as u64);
            assert_eq!(summary.connections.opened, 1);
        }
    }
}

#[test]
fn a_body_that_goes_on_is_a_body_error() {
    check(&[b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world"], |errors| errors.body);
    check(&[b"HTTP/1.1 204 No Content\r\n\r\nyet some"], |errors| errors.body);
    // What comes later is noticed when the connection is to be used again, which it is not; who
    // asks again at once takes it for the answer.
    let late: &[&[u8]] = &[b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b", world"];
    for backend in BACKENDS {
        let server = answering(late);
        let think = Think::constant(Span::from_millis(20));
        let load = Load::Closed { clients: 1, ramp: None, think: Some(think) };
        let summary = run(&Options { backend, load, ..options(server.address()) }).summary;
        assert!(summary.responses > 0, "{:?}", summary.errors);
        assert_eq!(summary.errors.total(), summary.errors.body);
        let summary = run(&Options { backend, ..options(server.address()) }).summary;
        assert!(summary.responses > 0 && summary.errors.protocol > 0, "{:?}", summary.errors);
        assert_eq!(summary.errors.total(), summary.errors.protocol + summary.errors.body);
    }
}

#[test]
fn chunks_that_are_none_are_a_protocol_error() {
    check(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello"], |errors| errors.protocol);
    check(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!!"], |errors| errors.protocol);
    check(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"], |errors| {
        errors.protocol
    });
}

#[test]
fn a_connection_that_closes_without_a_response_is_a_reset() {
    check(&[b""], |errors| errors.reset);
    check(&[b"HTTP/1.1 200 OK\r\nContent-Le"], |errors| errors.reset);
    check(&[b"HTTP/1.1 100 Continue\r\n\r\n"], |errors| errors.reset);
    for backend in BACKENDS {
        let server = Hostile::start(|_, _| ());
        let summary = run(&Options { backend, ..options(server.address()) }).summary;
        assert!(summary.requests > 1);
        assert_eq!(summary.errors.reset, summary.requests - cut(&summary), "{:?}", summary.errors);
    }
}

#[test]
fn a_body_without_a_length_ends_with_its_connection() {
    check_fine(&[b"HTTP/1.1 200 OK\r\n\r\n", b"hello", b", world"], 200, 12);
    check_fine(&[b"HTTP/1.0 200 OK\r\n\r\n"], 200, 0);
}

#[test]
fn interim_responses_are_passed_over() {
    const HINTS: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    const FINAL: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    check_fine(&[HINTS, FINAL], 200, 2);
    check_fine(vec![HINTS, unlike_its_length(60_000, 60_000)].leak(), 200, 60_000);
    check_fine(
        &[b"HTTP/1.1 100 Cont", b"inue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"],
        200,
        2,
    );
    check_fine(
        &[b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Len", b"gth: 2\r\n\r\nok"],
        200,
        2,
    );
}

#[test]
fn a_redirection_is_a_response_and_not_followed() {
    let server = web(|head| {
        assert!(head.starts_with("GET / "), "{head}");
        b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n".to_vec()
    });
    let summary = run(&options(server.address())).summary;
    assert!(summary.requests > 1);
    assert_eq!(summary.status.get(&302), Some(&summary.requests), "{:?}", summary.errors);
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
    let answers: [&[u8]; 5] = [
        unlike_its_length(100_000, 50_000),
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe",
        b"HTTP/1.1 100 Continue\r\n\r\n",
    ];
    for answer in answers {
        let server = Hostile::start(move |mut stream, _| {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer);
            let _ = stream.read(&mut [0; 1024]);
        });
        for backend in BACKENDS {
            check_stalled(Options { backend, ..options(server.address()) });
        }
    }
}

#[track_caller]
fn check_stalled(options: Options) {
    let summary = run(&Options { timeout: Some(Span::from_millis(50)), ..options }).summary;
    assert!(summary.requests > 1);
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
fn a_body_without_end_does_not_hold_up_the_others() {
    // Smallest chunks take longer to read than to send, so that there is always more to read.
    for backend in BACKENDS {
        let server = Hostile::start(|mut stream, number| {
            if number > 0 {
                return crate::common::serve(stream, &|_| ok(2));
            }
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            let block = b"1\r\nx\r\n".repeat(50_000);
            while stream.write_all(&block).is_ok() {}
        });
        let summary = run(&Options {
            backend,
            load: closed(3),
            timeout: Some(Span::from_millis(150)),
            ..options(server.address())
        })
        .summary;
        assert_eq!(summary.errors.timeout, 1, "{:?}", summary.errors);
        assert_eq!(summary.errors.total(), 1, "{:?}", summary.errors);
        assert!(summary.responses > 4, "{}", summary.responses);
        let longest = Duration::from_secs_f64(summary.latency.total.max);
        assert!(longest < PATIENCE, "time is looked at while it lasts: {longest:?}");
    }
}

#[test]
fn a_port_that_refuses_is_counted_and_said() {
    let report = run(&Options { load: open(100.0, traffic::Process::Constant), ..options(free_address()) });
    assert_eq!(report.summary.requests, 20, "the schedule was kept to");
    assert_eq!(report.summary.errors.connect, 20);
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
    // Behind a large one in a pipeline the reset would take the end of it along.
    let kinds = [(1, 2), (5, 2), (1, 50_000)];
    for (backend, (depth, length)) in BACKENDS.into_iter().flat_map(|it| kinds.map(|kind| (it, kind))) {
        let served = AtomicUsize::new(0);
        let server = web(move |_| {
            // Every third response is followed by a close that was not announced.
            if served.fetch_add(1, Ordering::Relaxed) % 3 == 2 { Vec::new() } else { ok(length) }
        });
        let protocol = Protocol { pipeline: NonZeroU32::new(depth), ..Protocol::default() };
        let summary = run(&Options { backend, protocol, ..options(server.address()) }).summary;
        assert!(summary.requests > 10, "{}", summary.requests);
        assert_eq!(summary.errors.total(), 0, "{:?}", summary.errors);
        let connections = &summary.connections;
        assert!(connections.opened > 1 && connections.reused > 1, "{connections:?}");
    }
}

#[test]
fn what_a_server_says_to_an_idle_connection_is_no_answer() {
    for backend in BACKENDS {
        // It may come with the end of the response, or later.
        let kinds = [(2, 0, 1), (50_000, 0, 1), (2, 3, 1), (50_000, 3, 1), (2, 0, 5), (50_000, 0, 5)];
        for (length, pause, depth) in kinds {
            let pause = Duration::from_millis(pause);
            let server = Hostile::start(move |mut stream, _| {
                let _ = stream.read(&mut [0; 1024]);
                let farewell = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n";
                let mut response = ok(length);
                if pause.is_zero() {
                    response.extend_from_slice(farewell);
                }
                let _ = stream.write_all(&response);
                if !pause.is_zero() {
                    std::thread::sleep(pause);
                    let _ = stream.write_all(farewell);
                }
                let _ = stream.read(&mut [0; 1024]);
            });
            // Where there are fewer processors than threads, the server may come to it late.
            let think = Some(Think::constant(Span::from_millis(if pause.is_zero() { 10 } else { 500 })));
            let load = Load::Closed { clients: 1, ramp: None, think };
            let protocol = Protocol { pipeline: NonZeroU32::new(depth), ..Protocol::default() };
            let (duration, count) = (Span::from_secs(20), Some(if depth == 1 { 3 } else { 1 }));
            let summary =
                run(&Options { backend, load, protocol, duration, count, ..options(server.address()) })
                    .summary;
            assert_eq!(Some(summary.requests), count, "{summary:?}");
            assert_eq!(summary.status.get(&200), Some(&summary.requests), "{summary:?}");
            assert_eq!(summary.connections.opened, summary.requests);
        }
    }
}

#[test]
fn more_than_a_response_announces_is_an_error() {
    for backend in BACKENDS {
        for (length, depth) in [(2, 1), (50_000, 1), (1_000_000, 1), (2, 5), (50_000, 5), (1_000_000, 5)] {
            let server = web(move |_| [&*ok(length), b"and more"].concat());
            let protocol = Protocol { pipeline: NonZeroU32::new(depth), ..Protocol::default() };
            // One at a time: behind others it would be the beginning of their responses, and malformed.
            let count = Some(1);
            let summary = run(&Options { backend, protocol, count, ..options(server.address()) }).summary;
            assert_eq!((summary.requests, summary.errors.body), (1, 1), "{depth}: {summary:?}");
        }
    }
}

#[test]
fn a_broken_answer_takes_those_behind_it_along() {
    for backend in BACKENDS {
        let server = web(|_| b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n".to_vec());
        let protocol = Protocol { pipeline: NonZeroU32::new(5), ..Protocol::default() };
        let summary = run(&Options { backend, protocol, ..options(server.address()) }).summary;
        assert!(summary.requests > 5 && summary.responses == 0, "{}", summary.requests);
        assert_eq!(summary.errors.protocol, summary.requests - cut(&summary), "{:?}", summary.errors);
    }
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
