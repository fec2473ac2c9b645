//! Clients of HTTP/2 that mean no good: they hold places, or make the gate work for nothing.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::common::tls::{framed, run, start};
use crate::common::{Gate, Held, echo, origin, origin_with};
use h2::client::SendRequest;
use http::{Request, StatusCode};
use hyper::body::Bytes;
use testkit::{PATIENCE, poll_until};

fn connect(gate: &Gate, window: u32) -> SendRequest<Bytes> {
    framed(gate.address, window)
}

fn get(path: &str) -> Request<()> {
    Request::get(format!("http://test{path}")).body(()).unwrap()
}

#[test]
fn a_stream_that_takes_nothing_loses_its_place() {
    let origin = origin();
    // Long enough for the client that does take something, on a machine that is busy with other things.
    let gate = Gate::start(origin.address(), "window = 1\n[client]\nstall-timeout = '2s'\n");
    let mut client = connect(&gate, 20_000);
    let mut take = |path: &str| {
        let (response, _) = client.send_request(get(path), true).unwrap();
        run(response).unwrap().into_body()
    };
    // Both are too large for what the gate keeps of a response.
    let mut stuck = take("/bytes/9000000");
    gate.wait_for("the place to be free", |state| state["in_service"] == 0);
    let error = run(async {
        loop {
            match stuck.data().await {
                Some(Ok(_)) => {}
                other => break other,
            }
        }
    });
    assert!(matches!(&error, Some(Err(why)) if why.reason() == Some(h2::Reason::CANCEL)), "{error:?}");
    // The connection is still good.
    let mut taken = take("/bytes/9000000");
    let mut length = 0;
    while let Some(piece) = run(taken.data()) {
        let piece = piece.unwrap().len();
        length += piece;
        taken.flow_control().release_capacity(piece).unwrap();
    }
    assert_eq!(length, 9_000_000);
}

#[test]
fn a_client_without_any_room_gets_nothing() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "window = 2\n[client]\nstall-timeout = '300ms'\n");
    let mut client = connect(&gate, 0);
    let answers: Vec<_> =
        (0..6).map(|_| client.send_request(get("/bytes/9000000"), true).unwrap().0).collect();
    gate.wait_for("all to be given up", |state| {
        state["in_service"] == 0 && state["queues"]["class"] == 0 && state["classes"][1]["arrived"] == 6
    });
    drop(answers);
}

#[test]
fn unfinished_uploads_do_not_fill_the_memory() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "");
    // What the gate would read of each before it asks for a place, but for the last bytes.
    static BODY: [u8; 31_000] = [0; 31_000];
    let mut uploads = Vec::new();
    for _ in 0..22 {
        let mut client = connect(&gate, 65_535);
        for _ in 0..100 {
            let request = Request::post("http://test/").body(()).unwrap();
            let (answer, mut upload) = client.send_request(request, false).unwrap();
            upload.send_data(Bytes::from_static(&BODY), false).unwrap();
            uploads.push((answer, upload));
        }
    }
    gate.wait_for("requests that are asked for without their bodies", |state| {
        state["classes"][1]["arrived"].as_u64() > Some(0)
    });
}

#[test]
fn an_upload_that_stalls_holds_no_place() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "window = 1\n[client]\nstall-timeout = '300ms'\n");
    let mut client = connect(&gate, 100_000);
    let post = Request::post("http://test/bytes/1").body(()).unwrap();
    let (response, mut upload) = client.send_request(post, false).unwrap();
    upload.send_data(Bytes::from_static(b"half"), false).unwrap();
    let quick = client.send_request(get("/bytes/1"), true).unwrap().0;
    assert_eq!(run(quick).unwrap().status(), StatusCode::OK);
    assert!(run(response).is_err());
}

/// The value of a metric without labels.
fn metric(gate: &Gate, name: &str) -> u64 {
    let page = gate.connect_admin().get("/metrics").response();
    let value = page.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {name} in {}", page.text())).parse().unwrap()
}

#[test]
fn streams_of_all_connections_have_a_bound() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "window = 1\n[limits]\nstreams = 50\n");
    let mut clients: Vec<_> = (0..3).map(|_| connect(&gate, 100_000)).collect();
    let mut answers: Vec<_> =
        (0..60).map(|number| clients[number % 3].send_request(get("/"), true).unwrap().0).collect();
    poll_until(PATIENCE, "streams to be refused", || {
        (metric(&gate, "headworks_gate_http2_refused_streams_total") == 10).then_some(())
    });
    assert_eq!(metric(&gate, "headworks_gate_http2_streams"), 50);
    // One that is refused says so, and the connection is still good.
    for _ in 0..50 {
        server.release();
    }
    let ended: Vec<_> = answers.drain(..).map(run).collect();
    let refused = ended.iter().filter_map(|answer| answer.as_ref().err()?.reason());
    assert_eq!(refused.collect::<Vec<_>>(), [h2::Reason::REFUSED_STREAM; 10]);
    poll_until(PATIENCE, "the streams to be over", || {
        (metric(&gate, "headworks_gate_http2_streams") == 0).then_some(())
    });
    server.release();
    let good = clients[0].send_request(get("/"), true).unwrap().0;
    assert_eq!(run(good).unwrap().status(), StatusCode::OK);
}

#[test]
fn streams_that_keep_the_gate_waiting_make_room() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "[limits]\nstreams = 60\n");
    let mut slow = connect(&gate, 100_000);
    let post = || Request::post("http://test/bytes/1").body(()).unwrap();
    let (answers, uploads): (Vec<_>, Vec<_>) =
        (0..60).map(|_| slow.send_request(post(), false).unwrap()).unzip();
    let answers: Vec<_> = answers.into_iter().map(start).collect();
    // Where there is room they have half a minute.
    poll_until(PATIENCE, "a quarter to be given up", || {
        (answers.iter().filter(|answer| answer.is_finished()).count() >= 15).then_some(())
    });
    let quick = connect(&gate, 100_000).send_request(get("/bytes/1"), true).unwrap().0;
    assert_eq!(run(quick).unwrap().status(), StatusCode::OK);
    drop(uploads);
}

#[test]
fn responses_that_nobody_takes_do_not_fill_the_memory() {
    const CONNECTIONS: u64 = 50;
    const MAX_MEMORY_BYTES: u64 = 64 << 20;
    // Each request has a worker, who waits for the next one of its connection afterwards.
    let origin = origin_with(1000);
    // No request is refused, so that there is enough to take.
    let gate = Gate::start(origin.address(), "mode = 'shadow'\n");
    let unsent = || metric(&gate, "headworks_gate_http2_unsent_bytes");
    // Windows of one byte for streams, and RFC 7541 for the head: GET http t /bytes/16000.
    let settings = frame(4, 0, 0, &[0, 4, 0, 0, 0, 1]);
    let head = [b"\x82\x86\x01\x01t\x04\x0c", &b"/bytes/16000"[..]].concat();
    let streams: Vec<u8> = (0..100).flat_map(|number| frame(1, 5, 2 * number + 1, &head)).collect();
    let greedy: Vec<_> = (1..=CONNECTIONS)
        .map(|number| {
            let mut socket = raw(&gate);
            socket.write_all(&[&settings[..], &streams].concat()).unwrap();
            let kept = (number * 100 * 16_000).min(MAX_MEMORY_BYTES);
            poll_until(PATIENCE, "what the gate keeps", || (unsent() >= kept).then_some(()));
            socket
        })
        .collect();
    for _ in 0..20 {
        // The server has five thousand requests to get through, and may be late for one of these.
        poll_until(PATIENCE, "a page", || (gate.get("/bytes/100", "").body.len() == 100).then_some(()));
        assert!(unsent() < MAX_MEMORY_BYTES + CONNECTIONS * 2 * 16_384, "{}", unsent());
    }
    // A client that takes what it is sent gets all of it meanwhile.
    let mut good = connect(&gate, 100_000);
    let mut body = run(good.send_request(get("/bytes/300000"), true).unwrap().0).unwrap().into_body();
    let mut length = 0;
    while let Some(piece) = run(body.data()) {
        let piece = piece.unwrap().len();
        length += piece;
        body.flow_control().release_capacity(piece).unwrap();
    }
    assert_eq!(length, 300_000);
    drop(greedy);
    poll_until(PATIENCE, "it to be forgotten", || (unsent() == 0).then_some(()));
}

/// A request whose client asks whether to send its body.
fn asking() -> Request<()> {
    Request::post("http://test/bytes/1").header("expect", "100-continue").body(()).unwrap()
}

#[test]
fn who_sends_without_a_100_is_served() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    let mut client = connect(&gate, 100_000);
    let (answer, mut upload) = client.send_request(asking(), false).unwrap();
    upload.send_data(Bytes::from_static(b"half "), false).unwrap();
    // The answer to another request comes after the first half.
    assert_eq!(run(client.send_request(get("/bytes/1"), true).unwrap().0).unwrap().status(), StatusCode::OK);
    upload.send_data(Bytes::from_static(b"rest"), true).unwrap();
    assert_eq!(run(answer).unwrap().status(), StatusCode::OK);
    // A body that is not there needs no leave.
    let empty = run(client.send_request(asking(), true).unwrap().0);
    assert_eq!(empty.unwrap().status(), StatusCode::OK);
    let echo = echo("");
    let gate = Gate::start(echo.address(), "");
    let mut client = connect(&gate, 100_000);
    let mut body = run(client.send_request(asking(), true).unwrap().0).unwrap().into_body();
    let head = String::from_utf8(run(body.data()).unwrap().unwrap().to_vec()).unwrap();
    assert!(head.starts_with("POST /bytes/1 ") && !head.contains("expect"), "{head}");
}

#[test]
fn requests_that_are_taken_back_at_once_end_the_connection() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    let mut client = connect(&gate, 100_000);
    let flooding = start(async move {
        loop {
            client = match client.ready().await {
                Ok(client) => client,
                Err(why) => return why,
            };
            match client.send_request(get("/burn?cpu=1ms"), true) {
                Ok((_, mut stream)) => stream.send_reset(h2::Reason::CANCEL),
                Err(why) => return why,
            }
            tokio::task::yield_now().await;
        }
    });
    run(flooding).unwrap();
    gate.wait_for("nobody to be left", |state| {
        state["connections"]["clients"] == 0 && state["in_service"] == 0 && state["queues"]["class"] == 0
    });
    assert_eq!(gate.get("/bytes/1", "").status, 200);
}

#[test]
fn requests_that_are_taken_back_later_end_the_connection_too() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "window = 1\n");
    let address = gate.address;
    let taken_back = run(async move {
        let socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let (mut client, mut connection) = h2::client::handshake(socket).await.unwrap();
        let mut pings = connection.ping_pong().unwrap();
        start(connection);
        for count in 0.. {
            let Ok(ready) = client.ready().await else { return count };
            client = ready;
            let Ok((_, mut stream)) = client.send_request(get("/"), true) else { return count };
            // The answer to a ping comes after the request was seen.
            if pings.ping(h2::Ping::opaque()).await.is_err() {
                return count;
            }
            stream.send_reset(h2::Reason::CANCEL);
        }
        0
    });
    assert!((200..300).contains(&taken_back), "{taken_back} were suffered");
    gate.wait_for("them to be forgotten", |state| {
        state["connections"]["clients"] == 0 && state["queues"]["class"] == 0
    });
}

/// A connection on which bytes are written as they are.
fn raw(gate: &Gate) -> TcpStream {
    let mut socket = TcpStream::connect(gate.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    socket.write_all(&frame(4, 0, 0, &[])).unwrap();
    socket
}

/// RFC 9113 section 4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Whether the gate says goodbye and closes; `feed` is written for as long as it does not.
fn is_dismissed(mut socket: TcpStream, feed: &[u8]) -> bool {
    let mut reader = socket.try_clone().unwrap();
    let reading = std::thread::spawn(move || {
        let mut all = Vec::new();
        // Cut off while writing is as good as an end.
        let _ = reader.read_to_end(&mut all);
        all
    });
    while !feed.is_empty() && socket.write_all(feed).is_ok() {}
    const GOAWAY: u8 = 7;
    let mut rest = &reading.join().unwrap()[..];
    while let Some(&[a, b, c, kind, ..]) = rest.first_chunk::<9>() {
        if kind == GOAWAY {
            return true;
        }
        rest = rest.get(9 + u32::from_be_bytes([0, a, b, c]) as usize..).unwrap_or_default();
    }
    false
}

#[test]
fn heads_without_end_are_cut_off() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "[client]\nidle-timeout = '300ms'\n");
    const HEADERS: u8 = 1;
    const CONTINUATION: u8 = 9;
    // A literal header that is added to no table: RFC 7541 section 6.2.2.
    let field = b"\x00\x01a\x01b".repeat(100);
    let mut flood = raw(&gate);
    flood.write_all(&frame(HEADERS, 0, 1, &field)).unwrap();
    assert!(is_dismissed(flood, &frame(CONTINUATION, 0, 1, &field)));
    let mut empty = raw(&gate);
    empty.write_all(&frame(HEADERS, 0, 1, &field)).unwrap();
    assert!(is_dismissed(empty, &frame(CONTINUATION, 0, 1, &[])));
    // Half a head, and then nothing: as good as nothing.
    let mut half = raw(&gate);
    half.write_all(&frame(HEADERS, 0, 1, &field)).unwrap();
    assert!(is_dismissed(half, &[]));
    // Half a preface does not count as a request either.
    let mut preface = TcpStream::connect(gate.address).unwrap();
    preface.write_all(b"PRI * HT").unwrap();
    let mut answer = Vec::new();
    preface.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = preface.read_to_end(&mut answer);
    gate.wait_for("nobody to be left", |state| state["connections"]["clients"] == 0);
}

#[test]
fn a_client_that_answers_no_ping_is_gone() {
    let server = Held::start();
    let more = "window = 1\n[client]\nstall-timeout = '300ms'\n[http2]\nping-interval = '200ms'\n";
    let gate = Gate::start(server.address(), more);
    let mut inside = connect(&gate, 100_000);
    let first = inside.send_request(get("/first"), true).unwrap().0;
    assert_eq!(server.next(), "/first");
    let mut silent = raw(&gate);
    // RFC 7541 appendix B: GET, http, /, and an authority.
    silent.write_all(&frame(1, 5, 1, b"\x82\x86\x84\x41\x04test")).unwrap();
    gate.wait_for_queue(1);
    gate.wait_for("the silent one to be forgotten", |state| {
        state["connections"]["clients"] == 1 && state["queues"]["class"] == 0
    });
    // The other one has answered, and may wait.
    server.release();
    assert_eq!(run(first).unwrap().status(), StatusCode::OK);
}

#[test]
fn heads_that_are_too_large_are_refused_alone() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "");
    let mut client = connect(&gate, 100_000);
    let long = Request::get("http://test/bytes/1").header("x-long", "x".repeat(40_000)).body(()).unwrap();
    let refused = run(client.send_request(long, true).unwrap().0);
    assert_eq!(refused.unwrap().status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    let good = client.send_request(get("/bytes/1"), true).unwrap().0;
    assert_eq!(run(good).unwrap().status(), StatusCode::OK);
}

#[test]
fn pings_and_settings_do_not_keep_a_connection() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "[client]\nidle-timeout = '300ms'\n");
    let mut socket = raw(&gate);
    let mut reader = socket.try_clone().unwrap();
    std::thread::spawn(move || reader.read_to_end(&mut Vec::new()));
    poll_until(PATIENCE, "the connection to be closed", || {
        socket.write_all(&frame(6, 0, 0, &[0; 8])).err().map(drop)
    });
    gate.wait_for("nobody to be left", |state| state["connections"]["clients"] == 0);
}
