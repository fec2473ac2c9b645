//! Requests with bodies, in both modes: read to their end, refused when too long, answered in order.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{FOREVER, MODES, connect, options, start, tcp};
use origin::{MAX_UPLOAD, Mode, Options, Server};
use testkit::{PATIENCE, exchange};
use units::Span;

fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("POST {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n").as_bytes(), body].concat()
}

#[test]
fn bodies_are_dropped_and_the_next_request_is_found() {
    let body = vec![b'x'; 100_000];
    let chunked = [b"186a0;note=1\r\n", body.as_slice(), b"\r\n5\r\nhello\r\n0\r\nSum: 1\r\n\r\n"].concat();
    for mode in MODES {
        let server = start(mode, 1);
        let mut client = connect(&server);
        for (headers, body) in [
            ("Content-Length: 100000\r\n", &body),
            ("Transfer-Encoding: chunked\r\n", &chunked),
            ("Content-Length: 0\r\n", &Vec::new()),
            ("", &Vec::new()),
        ] {
            client.send(post("/bytes/20", headers, body));
            assert_eq!(client.response().body.len(), 20, "{mode:?}: {headers}");
        }
        let refusal = client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello").response();
        assert_eq!((refusal.status, refusal.header("allow")), (405, Some("GET, HEAD, POST")), "{mode:?}");
        assert_eq!(client.get("/healthz").response().text(), "ok\n", "{mode:?}");
    }
}

#[test]
fn a_body_may_come_byte_by_byte() {
    for mode in MODES {
        let server = start(mode, 1);
        let mut client = connect(&server);
        for byte in post("/bytes/7", "Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n0\r\nA: b\r\n\r\n") {
            client.send([byte]);
        }
        assert_eq!(client.response().body.len(), 7, "{mode:?}");
    }
}

#[test]
fn pipelined_requests_of_all_kinds_are_answered_in_order() {
    for mode in MODES {
        let server = start(mode, 1);
        let mut client = connect(&server);
        let mut sender = client.stream().try_clone().unwrap();
        // More than the sockets hold: the client must read while it sends.
        let sending = thread::spawn(move || {
            for n in 0..500 {
                let body = vec![b'x'; n * 31 % 20_000];
                let request = match n % 4 {
                    0 => post(&format!("/bytes/{n}"), &format!("Content-Length: {}\r\n", body.len()), &body),
                    1 => format!("GET /bytes/{n} HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes(),
                    2 => format!("GET /bytes/{n} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").into_bytes(),
                    _ => {
                        let chunk = [format!("{:x}\r\n", body.len().max(1)).as_bytes(), &body].concat();
                        let chunk = if body.is_empty() { b"1\r\nx".to_vec() } else { chunk };
                        let whole = [&chunk[..], b"\r\n0\r\n\r\n"].concat();
                        post(&format!("/bytes/{n}"), "Transfer-Encoding: chunked\r\n", &whole)
                    }
                };
                sender.write_all(&request).unwrap();
            }
        });
        for n in 0..500 {
            assert_eq!(client.response().body.len(), n, "{mode:?}");
        }
        sending.join().unwrap();
    }
}

#[test]
fn a_client_that_asks_whether_to_go_on_is_told() {
    let headers = "Content-Length: 5\r\nExpect: 100-continue\r\n";
    for mode in MODES {
        let server = start(mode, 1);
        let mut client = connect(&server);
        for _ in 0..2 {
            assert_eq!(client.send(post("/healthz", headers, b"")).head(), "HTTP/1.1 100 Continue");
            assert_eq!(client.send("hello").response().text(), "ok\n", "{mode:?}");
        }
        // One that has gone on already needs no leave.
        assert_eq!(client.send(post("/healthz", headers, b"hello")).response().status, 200, "{mode:?}");
        let too_long = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", MAX_UPLOAD + 1);
        assert_eq!(client.send(post("/", &too_long, b"")).response().status, 413, "{mode:?}");
        assert_eq!(client.until_closed(), b"", "{mode:?}");
    }
}

#[test]
fn endless_chunks_are_cut_off() {
    for mode in MODES {
        let server = start(mode, 1);
        let mut client = connect(&server);
        let mut sender = client.stream().try_clone().unwrap();
        let sending = thread::spawn(move || {
            let piece = [b"40000\r\n".as_slice(), &[b'x'; 0x40000], b"\r\n"].concat();
            let _ = sender.write_all(&post("/", "Transfer-Encoding: chunked\r\n", b""));
            let sent = (0..1000).take_while(|_| sender.write_all(&piece).is_ok()).count();
            // Else the server would wait for more of it.
            let _ = sender.shutdown(Shutdown::Both);
            sent
        });
        assert_eq!(client.response().status, 413, "{mode:?}");
        assert!(sending.join().unwrap() < 1000, "{mode:?}");
    }
}

#[test]
fn bodies_that_stall_are_given_up_and_those_that_go_on_are_not() {
    for mode in MODES {
        let server = Server::start(&Options {
            patience: Span::from_millis(1000),
            keep_alive: FOREVER,
            ..options(mode, 1)
        })
        .unwrap();
        let mut slow = connect(&server);
        slow.send(post("/healthz", "Content-Length: 6\r\n", b""));
        for _ in 0..6 {
            slow.stream().set_read_timeout(Some(Duration::from_millis(200))).unwrap();
            let nothing = slow.stream().read(&mut [0]).unwrap_err();
            assert_eq!(nothing.kind(), ErrorKind::WouldBlock, "{mode:?}");
            slow.send("x");
        }
        slow.stream().set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(slow.response().text(), "ok\n", "{mode:?}");
        drop(slow);
        let mut stalled = connect(&server);
        stalled.send(post("/healthz", "Content-Length: 8\r\n", b"half"));
        assert_eq!(stalled.until_closed(), b"", "{mode:?}");
    }
}

#[test]
fn old_clients_with_bodies_are_answered() {
    for mode in MODES {
        let server = start(mode, 1);
        let answer = exchange(tcp(&server), "POST /healthz HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello");
        assert!(answer.contains("Connection: close") && answer.ends_with("ok\n"), "{mode:?}: {answer}");
    }
}

#[test]
fn a_delay_begins_when_the_body_has_come() {
    let server = start(Mode::Workers, 1);
    let mut client = connect(&server);
    client.send(post("/delay?before=50ms&bytes=3", "Content-Length: 2\r\n", b"x"));
    // As long as the delay: it would be over if it counted from the head.
    thread::sleep(Duration::from_millis(50));
    let sent = Instant::now();
    assert_eq!(client.send("x").response().body.len(), 3);
    assert!(sent.elapsed() >= Duration::from_millis(50), "counted from the head");
}
