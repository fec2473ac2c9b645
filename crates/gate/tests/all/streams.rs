//! Requests that the server has and does nothing for: responses that it streams, uploads that it waits for.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use testkit::{Hostile, PATIENCE, Raw, poll_until};

use crate::common::{Gate, read_head};

/// Bytes of a response, more than sockets hold.
const LARGE: usize = 32 << 20;

/// Sends the head of a response of this type and a piece of it, and then nothing, until the client has gone.
fn streams(media_type: &'static str, open: &Arc<AtomicUsize>) -> Hostile {
    let open = Arc::clone(open);
    Hostile::start(move |mut stream, _| {
        while let Some(head) = read_head(stream) {
            if !head.starts_with("GET /stream") {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
                continue;
            }
            open.fetch_add(1, Ordering::SeqCst);
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ntransfer-encoding: chunked\r\n\r\n2\r\n: \r\n"
            );
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.read(&mut [0]);
            open.fetch_sub(1, Ordering::SeqCst);
            break;
        }
    })
}

/// A client that has got the first of a stream.
fn listen(gate: &Gate) -> Raw {
    let mut client = gate.connect();
    assert!(client.get("/stream").head().contains(" 200 "));
    client
}

#[test]
fn streams_take_no_places() {
    for media_type in ["text/event-stream; charset=utf-8", "application/x-ndjson"] {
        let open = Arc::default();
        let server = streams(media_type, &open);
        let gate = Gate::start(server.address(), "window = 2");
        let listening: Vec<Raw> = (0..12).map(|_| listen(&gate)).collect();
        let state = gate.wait_for("the places", |state| state["in_service"] == 0);
        assert_eq!(state["streaming"], 12, "{media_type}");
        assert_eq!(gate.get("/page", "").text(), "ok");
        drop(listening);
        gate.wait_for("the streams to end", |state| state["streaming"] == 0);
        poll_until(PATIENCE, "the server to hear of it", || (open.load(Ordering::SeqCst) == 0).then_some(()));
    }
}

/// Beyond the bound, a stream that none could know to be one holds a place, until another ends.
#[test]
fn beyond_their_bound_streams_hold_places_and_one_that_ends_frees_one() {
    let open = Arc::default();
    let server = streams("application/x-ndjson", &open);
    let gate = Gate::start(server.address(), "window = 1\n[limits]\nstreaming = 1");
    let first = listen(&gate);
    gate.wait_for("the first to stream", |state| state["streaming"] == 1);
    let mut last = gate.connect();
    last.get("/stream/of/another/kind");
    assert!(last.head().contains(" 200 "));
    let mut waiting = gate.connect();
    waiting.get("/page");
    gate.wait_for_queue(1);
    drop(first);
    assert_eq!(waiting.response().text(), "ok");
    gate.wait_for("the last to stream", |state| state["in_service"] == 0 && state["streaming"] == 1);
}

#[test]
fn a_stream_beyond_the_bound_ends_when_others_wait_for_its_place() {
    let open = Arc::default();
    let server = streams("application/x-ndjson", &open);
    let gate = Gate::start(server.address(), "window = 1\n[limits]\nstreaming = 1");
    let _first = listen(&gate);
    gate.wait_for("the first to stream", |state| state["streaming"] == 1);
    let mut last = gate.connect();
    last.get("/stream/of/another/kind");
    assert!(last.head().contains(" 200 "));
    assert_eq!(gate.get("/page", "").text(), "ok", "within the patience of who asks for a page");
    last.until_closed();
}

#[test]
fn streams_beyond_the_bound_are_refused_where_they_are_known_and_take_no_places() {
    for media_type in ["text/event-stream", "application/x-ndjson"] {
        let open = Arc::default();
        let server = streams(media_type, &open);
        let gate = Gate::start(server.address(), "window = 1\n[limits]\nstreaming = 1");
        let listening = listen(&gate);
        gate.wait_for("the first to stream", |state| state["streaming"] == 1);
        for _ in 0..3 {
            let refused = gate.get("/stream", "");
            assert_eq!((refused.status, refused.text()), (503, "There are too many streams.\n"));
            assert_eq!(gate.get("/page", "").text(), "ok");
        }
        drop(listening);
        gate.wait_for("the stream to end", |state| state["streaming"] == 0);
        listen(&gate);
    }
}

/// Sends what is asked for as `/large`, and two bytes for everything else.
fn downloads() -> Hostile {
    Hostile::start(|mut stream, _| {
        while let Some(head) = read_head(stream) {
            let length = if head.starts_with("GET /large") { LARGE } else { 2 };
            let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
            let _ = stream.write_all(&vec![b'x'; length]);
        }
    })
}

#[test]
fn who_takes_nothing_of_a_response_makes_room_for_who_does() {
    let server = downloads();
    let gate = Gate::start(server.address(), "window = 1\n[limits]\nstreaming = 1");
    let mut slow = gate.connect();
    slow.get("/large");
    gate.wait_for("the place", |state| state["in_service"] == 0 && state["streaming"] == 1);
    poll_until(PATIENCE, "room for another", || (gate.get("/large", "").status == 200).then_some(()));
}

#[test]
fn a_download_that_is_not_taken_gives_its_place_back() {
    let server = downloads();
    let gate = Gate::start(server.address(), "window = 1");
    let mut slow = gate.connect();
    slow.get("/large");
    gate.wait_for("the place", |state| state["in_service"] == 0 && state["streaming"] == 1);
    assert_eq!(gate.get("/small", "").text(), "xx");
    assert_eq!(slow.response().body.len(), LARGE, "and it is served to the end");
}

/// Takes in uploads and says how long they were.
fn counts() -> Hostile {
    Hostile::start(|mut stream, _| {
        while let Some(head) = read_head(stream) {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            if stream.read_exact(&mut body).is_err() {
                break;
            }
            let text = format!("{} bytes", body.len());
            let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len());
        }
    })
}

#[test]
fn uploads_that_dawdle_take_no_places() {
    let server = counts();
    let gate = Gate::start(server.address(), "window = 1");
    let mut slow: Vec<Raw> = (0..3).map(|_| gate.connect()).collect();
    for client in &mut slow {
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc");
    }
    gate.wait_for("the places", |state| state["in_service"] == 0 && state["streaming"] == 3);
    assert_eq!(gate.get("/", "").text(), "0 bytes");
    for client in &mut slow {
        assert_eq!(client.send("def").response().text(), "6 bytes");
    }
    gate.wait_for("the end", |state| state["in_service"] == 0 && state["streaming"] == 0);
}

/// An upload of which hardly anything comes, for longer than the time after which one that has stopped is given up.
#[test]
fn an_upload_that_goes_on_is_never_too_slow() {
    let server = counts();
    let gate = Gate::start(server.address(), "[client]\nstall-timeout = '400ms'");
    let mut client = gate.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n");
    for _ in 0..12 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        client.send("x");
    }
    assert_eq!(client.response().text(), "12 bytes");
    let mut stopped = gate.connect();
    stopped.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\nx");
    assert_eq!(stopped.response().status, 408, "one that has stopped is given up");
    assert_eq!(stopped.until_closed(), b"");
}

/// The server answers each piece of a request before the next is sent.
#[test]
fn what_comes_in_turns_passes_in_turns() {
    let server = Hostile::start(|mut stream: &TcpStream, _| {
        if read_head(stream).is_none() {
            return;
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        let mut piece = [0; 64];
        while let Ok(length @ 1..) = stream.read(&mut piece) {
            let end = piece[..length].ends_with(b"0\r\n\r\n");
            let _ = stream.write_all(if end { b"0\r\n\r\n" } else { &piece[..length] });
        }
    });
    let gate = Gate::start(server.address(), "[client]\nstall-timeout = '300ms'");
    let mut client = gate.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    for word in ["one", "two", "six"] {
        client.send(format!("3\r\n{word}\r\n"));
        let mut seen = Vec::new();
        while !seen.windows(3).any(|bytes| bytes == word.as_bytes()) {
            let mut piece = [0; 256];
            let length = client.stream().read(&mut piece).unwrap();
            assert!(length > 0, "{}", seen.escape_ascii());
            seen.extend_from_slice(&piece[..length]);
        }
        // Longer than one that sends nothing and is waited for would be.
        std::thread::sleep(std::time::Duration::from_millis(700));
    }
    client.send("0\r\n\r\n");
    let mut rest = [0; 64];
    let length = client.stream().read(&mut rest).unwrap();
    assert!(rest[..length].ends_with(b"0\r\n\r\n"), "{}", rest[..length].escape_ascii());
}
