//! Both modes over real sockets: the same answers, and nothing a client does takes the server down.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use crate::common::{FOREVER, MODES, options, serves, start, tcp};
use origin::{Mode, Options, Server};
use testkit::{PATIENCE, Raw, exchange, free_address, poll_until};
use units::Span;

#[test]
fn one_connection_gets_every_page() {
    for mode in MODES {
        let server = start(mode, 2);
        let mut client = Raw::connect(tcp(&server));
        assert!(client.get("/").response().text().contains("/burn?cpu=25ms"));
        assert_eq!(client.get("/healthz").response().text(), "ok\n");
        for length in [0, 1, 16_384, 16_385, 3_000_000] {
            let response = client.get(&format!("/bytes/{length}")).response();
            assert_eq!((response.status, response.body.len()), (200, length), "{mode:?}");
        }
        let response = client.get("/nothing").response();
        assert_eq!(response.status, 404);
        assert_eq!(response.header("server"), Some("headworks-origin"));
        assert!(response.header("date").is_some_and(|date| date.ends_with(" GMT")), "{}", response.head);
    }
}

#[test]
fn burning_is_for_workers() {
    let server = start(Mode::Workers, 1);
    let page = Raw::connect(tcp(&server)).get("/burn?cpu=2ms").response();
    assert_eq!(page.text().lines().last(), Some("<p>This page cost 2ms of CPU time."));
    assert_eq!(Raw::connect(tcp(&server)).get("/burn?cpu=soon").response().status, 400);

    let server = start(Mode::Static, 1);
    let refusal = Raw::connect(tcp(&server)).get("/burn?cpu=2ms").response();
    assert_eq!(refusal.status, 404);
    assert!(refusal.text().contains("--mode workers"));
}

#[test]
fn a_head_has_the_length_of_the_body_that_it_leaves_out() {
    for mode in MODES {
        let server = start(mode, 1);
        let mut client = Raw::connect(tcp(&server));
        let head = client.send("HEAD /bytes/100000 HTTP/1.1\r\nHost: a\r\n\r\n").head();
        assert!(head.contains("Content-Length: 100000"), "{head}");
        assert_eq!(client.get("/healthz").response().text(), "ok\n", "{mode:?}");
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    for mode in MODES {
        let server = start(mode, 1);
        let mut client = Raw::connect(tcp(&server));
        let lengths: Vec<usize> = (0..400).map(|n| n * 97 % 40_000).collect();
        let requests: String =
            lengths.iter().map(|n| format!("GET /bytes/{n} HTTP/1.1\r\nHost: a\r\n\r\n")).collect();
        client.send(&requests);
        for length in lengths {
            assert_eq!(client.response().body.len(), length, "{mode:?}");
        }
    }
}

#[test]
fn a_request_may_come_byte_by_byte() {
    for mode in MODES {
        let server = start(mode, 1);
        let mut client = Raw::connect(tcp(&server));
        for byte in b"GET /bytes/5 HTTP/1.1\r\nHost: a\r\n\r\n" {
            client.send([*byte]);
        }
        assert_eq!(client.response().body.len(), 5, "{mode:?}");
    }
}

#[test]
fn old_clients_are_told_whether_the_connection_stays() {
    for mode in MODES {
        let server = start(mode, 1);
        let answer = exchange(tcp(&server), "GET /healthz HTTP/1.0\r\n\r\n");
        assert!(answer.contains("Connection: close") && answer.ends_with("ok\n"), "{mode:?}: {answer}");
        let mut client = Raw::connect(tcp(&server));
        let request = "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
        assert_eq!(client.send(request).response().header("connection"), Some("keep-alive"));
        assert_eq!(client.send(request).response().status, 200);
    }
}

#[test]
fn bad_requests_are_refused_and_harm_nobody() {
    let endless = format!("GET / HTTP/1.1\r\nHost: a\r\nCookie: {}\r\n\r\n", "x".repeat(100_000));
    for mode in MODES {
        let server = start(mode, 2);
        for round in 0..5 {
            for (bytes, status) in [
                ("\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03", "400 "),
                ("GET / HTTP/1.1\r\n\r\n", "400 "),
                ("GET /bytes/many HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "400 "),
                ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 "),
                ("BREW / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "405 "),
                ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n", "400 "),
                ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nhello", "501 "),
                (endless.as_str(), "431 "),
            ] {
                let answer = exchange(tcp(&server), bytes);
                assert!(
                    answer.starts_with(&format!("HTTP/1.1 {status}")),
                    "{mode:?}, {round}: {:.40} gave {answer:.60}",
                    bytes.escape_debug()
                );
                assert!(answer.contains("Connection: close"), "{answer}");
            }
        }
        assert!(serves(tcp(&server)), "{mode:?}");
    }
}

#[test]
fn a_refusal_reaches_clients_that_are_still_sending() {
    for mode in MODES {
        let server = start(mode, 1);
        for beginning in ["", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 67108865\r\n\r\n"] {
            let unread = format!("{beginning}{}", "x".repeat(100_000));
            let mut client = Raw::connect(tcp(&server));
            let mut answer = String::new();
            let end = client.send(unread).stream().read_to_string(&mut answer);
            assert!(answer.starts_with("HTTP/1.1 4"), "{mode:?}: {answer}");
            assert!(end.is_ok(), "{mode:?}: {answer} and then {end:?}");
        }
    }
}

#[test]
fn clients_that_vanish_give_their_worker_back() {
    for mode in MODES {
        let server = start(mode, 1);
        Raw::connect(tcp(&server)).send("GET / HT");
        Raw::connect(tcp(&server)).get("/bytes/1073741824");
        assert!(serves(tcp(&server)), "{mode:?}");
    }
}

#[test]
fn clients_that_are_slow_are_given_up() {
    for mode in MODES {
        let server = Server::start(&Options {
            patience: Span::from_millis(150),
            keep_alive: FOREVER,
            ..options(mode, 1)
        })
        .unwrap();
        for beginning in ["", "GET /", "GET / HTTP/1.1\r\nHost: a\r\n"] {
            assert_eq!(
                Raw::connect(tcp(&server)).send(beginning).until_closed(),
                b"",
                "{mode:?} {beginning}"
            );
        }
        // One that asks for more than the sockets hold, and then never reads.
        let mut deaf = Raw::connect(tcp(&server));
        deaf.get("/bytes/1073741824");
        assert!(serves(tcp(&server)), "{mode:?}");
    }
}

#[test]
fn idle_connections_are_closed() {
    for mode in MODES {
        let server = Server::start(&Options {
            patience: FOREVER,
            keep_alive: Span::from_millis(150),
            ..options(mode, 1)
        })
        .unwrap();
        let mut client = Raw::connect(tcp(&server));
        client.get("/healthz").response();
        assert_eq!(client.until_closed(), b"", "{mode:?}");
    }
}

#[test]
fn a_worker_belongs_to_its_connection() {
    let server = start(Mode::Workers, 1);
    let mut first = Raw::connect(tcp(&server));
    first.get("/healthz").response();
    let mut second = Raw::connect(tcp(&server));
    second.get("/healthz").stream().set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let early = second.stream().read(&mut [0]);
    assert!(matches!(early, Err(error) if error.kind() == ErrorKind::WouldBlock), "served beside the first");
    drop(first);
    second.stream().set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(second.response().text(), "ok\n");
}

#[test]
fn the_listen_queue_has_the_length_asked_for() {
    let server = Server::start(&Options { backlog: 3, ..options(Mode::Workers, 1) }).unwrap();
    let mut holder = Raw::connect(tcp(&server));
    holder.get("/healthz").response();
    let connect = || TcpStream::connect_timeout(&tcp(&server), Duration::from_millis(200)).ok();
    let queued: Vec<TcpStream> = std::iter::from_fn(connect).take(100).collect();
    assert_eq!(queued.len(), 4, "Linux admits one more than the backlog");
}

#[test]
fn a_stopped_server_leaves_its_port_to_the_next() {
    for mode in MODES {
        let mut options = Options { keep_alive: FOREVER, ..options(mode, 3) };
        let server = Server::start(&options).unwrap();
        options.listen = server.address().clone();
        let address = tcp(&server);
        let mut client = Raw::connect(tcp(&server));
        client.get("/healthz").response();
        let stopped = thread::spawn(|| server.stop());
        assert_eq!(client.until_closed(), b"");
        stopped.join().unwrap();
        assert!(TcpStream::connect(address).is_err(), "{mode:?}");
        let again = poll_until(PATIENCE, "the port", || Server::start(&options).ok());
        assert!(serves(tcp(&again)), "{mode:?}");
    }
}

#[test]
fn an_occupied_port_is_an_error_that_says_so() {
    for mode in MODES {
        let first = start(mode, 1);
        let second = Options { listen: first.address().clone(), ..options(mode, 1) };
        let error = Server::start(&second).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot listen on {}: address already in use", first.address())
        );
    }
    let nowhere = Options { listen: "192.0.2.1:0".parse().unwrap(), ..options(Mode::Static, 1) };
    assert!(Server::start(&nowhere).unwrap_err().to_string().ends_with("this machine has no such address"));
    assert!(Server::start(&Options { listen: free_address().into(), ..options(Mode::Static, 1) }).is_ok());
}
