//! No client ever gets a byte of what another asked for, whatever servers and clients do.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::common::{Gate, read_head};
use crate::h2_server::{After, Asked, H2Server};
use bytes::Bytes;
use http::Response;
use testkit::{Hostile, PATIENCE};

const CLIENTS: u64 = 12;
const REQUESTS: u64 = 60;

/// The page of a number: long enough to come in pieces, and like no other.
fn page(number: u64) -> Vec<u8> {
    let word = format!("<{number}>");
    word.bytes().cycle().take((number * 7919 % 60_000) as usize + 1).collect()
}

/// Numbers that look like chance and are the same each time.
fn scatter(seed: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

fn number_of(target: &str) -> u64 {
    target.trim_start_matches('/').parse().unwrap()
}

/// Answers rightly, cuts answers short, says more than it promised, resets.
fn unreliable() -> Hostile {
    Hostile::start(|mut stream, _| {
        while let Some(head) = read_head(stream) {
            let number = number_of(head.split(' ').nth(1).unwrap());
            let body = page(number);
            let (length, half) = (body.len(), body.len() / 2);
            let fixed =
                |length: usize| format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n").into_bytes();
            let (bytes, goes_on) = match scatter(number) % 12 {
                0 => (Vec::new(), false),
                1 => ([fixed(length), body[..half].to_vec()].concat(), false),
                // What follows looks like an answer to whatever is asked next.
                2 => ([fixed(length), body, fixed(7), b"<wrong>".to_vec()].concat(), true),
                3 => ([fixed(length), body, b"<wrong>".to_vec()].concat(), true),
                4 => (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n<wro".to_vec(), false),
                5 => {
                    let chunk =
                        |piece: &[u8]| [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
                    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
                    let (first, second) = body.split_at(half);
                    let last = b"0\r\n\r\n".to_vec();
                    let first = if first.is_empty() { Vec::new() } else { chunk(first) };
                    ([head, first, chunk(second), last].concat(), true)
                }
                _ => ([fixed(length), body].concat(), true),
            };
            if stream.write_all(&bytes).is_err() || !goes_on {
                return;
            }
        }
    })
}

/// The same over HTTP/2.
fn unreliable_h2() -> H2Server {
    H2Server::start(7, |asked: Asked| {
        let number = number_of(asked.request.uri().path());
        let kind = scatter(number) % 24;
        let after = match kind {
            0 => After::Cut,
            1 => After::Leave,
            _ => After::GoOn,
        };
        let answering = async move {
            let mut respond = asked.respond;
            let body = page(number);
            if kind == 2 {
                return respond.send_reset(h2::Reason::INTERNAL_ERROR);
            }
            let response = Response::builder().header("content-length", body.len()).body(()).unwrap();
            let Ok(mut stream) = respond.send_response(response, false) else { return };
            let (first, second) = body.split_at(body.len() / 2);
            let _ = stream.send_data(Bytes::copy_from_slice(first), false);
            tokio::task::yield_now().await;
            if kind == 3 {
                return stream.send_reset(h2::Reason::CANCEL);
            }
            let _ = stream.send_data(Bytes::copy_from_slice(second), true);
        };
        (answering, after)
    })
}

/// One response, as far as it came: the body, and whether it is whole and more can follow.
fn receive(stream: &mut TcpStream) -> Option<(u16, Vec<u8>, bool)> {
    let head = read_head(stream)?.to_lowercase();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut body = Vec::new();
    let whole = match head.split("content-length: ").nth(1) {
        Some(rest) => {
            let length = rest.split("\r\n").next()?.parse().ok()?;
            body.resize(length, 0);
            read_up_to(stream, &mut body)
        }
        None => loop {
            let Some(size) = read_line(stream).and_then(|line| usize::from_str_radix(&line, 16).ok()) else {
                break false;
            };
            let mut chunk = vec![0; size];
            let all = read_up_to(stream, &mut chunk);
            body.append(&mut chunk);
            if !all || read_line(stream).is_none() {
                break false;
            }
            if size == 0 {
                break true;
            }
        },
    };
    let goes_on = whole && !head.contains("connection: close");
    Some((status, body, goes_on))
}

/// Fills the buffer, or cuts it to what came.
fn read_up_to(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> bool {
    let mut at = 0;
    while at < buffer.len() {
        match stream.read(&mut buffer[at..]) {
            Ok(length @ 1..) => at += length,
            _ => break,
        }
    }
    let whole = at == buffer.len();
    buffer.truncate(at);
    whole
}

fn read_line(stream: &mut TcpStream) -> Option<String> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        line.push(byte[0]);
    }
    line.truncate(line.len() - 2);
    String::from_utf8(line).ok()
}

fn connect(gate: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(gate).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// A client that asks for pages of its own, breaks off now and then, and looks at what it gets.
/// Gives how many came whole.
fn browse(gate: SocketAddr, client: u64) -> usize {
    let mut stream = connect(gate);
    let mut whole = 0;
    for request in 0..REQUESTS {
        let number = client * 10_000 + request;
        let asked = write!(stream, "GET /{number} HTTP/1.1\r\nHost: test\r\n\r\n");
        if asked.is_err() {
            stream = connect(gate);
            continue;
        }
        if scatter(number ^ 0xffff).is_multiple_of(6) {
            // Gone, before anything came or in the middle of it.
            let _ = stream.read(&mut vec![0; (number % 3000) as usize]);
            stream = connect(gate);
            continue;
        }
        let Some((status, body, goes_on)) = receive(&mut stream) else {
            stream = connect(gate);
            continue;
        };
        if status == 200 {
            let mine = page(number);
            // A chunk that was not finished may end with the first bytes of what the server made up.
            let unfinished = scatter(number) % 12 == 4;
            assert!(mine.starts_with(&body) || unfinished, "{number}: {}", body.escape_ascii());
            assert!(!goes_on || body == mine, "{number}: {} of {} bytes", body.len(), mine.len());
            whole += usize::from(goes_on);
        } else {
            assert!(matches!(status, 502 | 504), "{number}: {status}");
        }
        if !goes_on {
            stream = connect(gate);
        }
    }
    whole
}

#[track_caller]
fn check(upstream: &str) {
    let gate =
        Gate::before(&format!("{upstream}, timeout = '20s', ejection = {{ share = 0 }}"), "window = 6");
    let address = gate.address;
    let whole: usize = std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|client| scope.spawn(move || browse(address, client))).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    assert!(whole as u64 > CLIENTS * REQUESTS / 4, "{whole} of {}", CLIENTS * REQUESTS);
    gate.wait_for("everybody to be gone", |state| {
        state["in_service"] == 0
            && state["connections"]["clients"] == 0
            && state["connections"]["upstream"] == 0
    });
}

#[test]
fn over_http_1() {
    let servers = [unreliable(), unreliable()];
    check(&format!("server = ['{}', '{}']", servers[0].address(), servers[1].address()));
}

#[test]
fn over_http_2() {
    let servers = [unreliable_h2(), unreliable_h2()];
    check(&format!("http = 2, server = ['{}', '{}']", servers[0].address(), servers[1].address()));
}

#[test]
fn an_answer_that_comes_before_its_question_is_nobody_s() {
    // The second answer is there before anybody has asked for it.
    let server = Hostile::start(|mut stream, _| {
        read_head(stream);
        let _ = stream.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nmineHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison",
        );
        read_head(stream);
        std::thread::sleep(Duration::from_millis(1));
    });
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    for _ in 0..50 {
        assert_eq!(client.get("/").response().text(), "mine");
    }
}
