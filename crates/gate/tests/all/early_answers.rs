//! Answers that come before all of the request has gone.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use crate::common::tls::{self, Identity, run};
use crate::common::{Gate, read_head};
use testkit::{Hostile, Raw};

/// A server that refuses each upload without reading it: closes, resets or reads on, as the path says.
fn refusing() -> Hostile {
    Hostile::start(|mut stream, _| {
        while let Some(head) = read_head(stream) {
            let close = if head.contains("/on") { "" } else { "Connection: close\r\n" };
            let answer = format!("HTTP/1.1 413 Too Large\r\n{close}Content-Length: 9\r\n\r\ntoo large");
            stream.write_all(answer.as_bytes()).unwrap();
            if head.contains("/reset") {
                // Closed with bytes unread, TCP resets.
                return;
            }
            if head.contains("/close") {
                let _ = stream.shutdown(Shutdown::Write);
            }
            let mut length = length(&head);
            let mut piece = vec![0; 64 * 1024];
            while length > 0 {
                let most = length.min(piece.len());
                let Ok(read @ 1..) = stream.read(&mut piece[..most]) else { return };
                length -= read;
            }
        }
    })
}

fn length(head: &str) -> usize {
    let line =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    line.map_or(0, |length| length.trim().parse().unwrap())
}

/// Sends all of an upload before it looks for the response.
fn upload(address: SocketAddr, path: &str, length: usize) -> Vec<u8> {
    let mut client = Raw::connect(address);
    client.send(format!(
        "POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    ));
    let piece = vec![b'x'; 256 * 1024];
    let mut left = length;
    while left > 0 {
        let now = left.min(piece.len());
        client.send(&piece[..now]);
        left -= now;
    }
    client.until_closed()
}

#[test]
fn a_refusal_reaches_a_client_that_is_still_sending() {
    let server = refusing();
    let gate = Gate::start(server.address(), "");
    for path in ["/on", "/close", "/reset"] {
        for length in [20_000, 3_000_000, 20_000_000] {
            for _ in 0..2 {
                let answer = upload(gate.address, path, length);
                let answer = String::from_utf8_lossy(&answer).into_owned();
                assert!(
                    answer.starts_with("HTTP/1.1 413 Too Large") && answer.ends_with("too large"),
                    "{answer}"
                );
                assert_eq!(answer.matches("HTTP/1.").count(), 1, "{path} {length}: {answer}");
            }
        }
    }
}

#[test]
fn nothing_is_said_behind_an_early_answer() {
    let server = refusing();
    let gate = Gate::start(server.address(), "[client]\nheader-timeout = '200ms'\nidle-timeout = '400ms'\n");
    let mut client = gate.connect();
    client
        .send("POST /close HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n")
        .send(vec![b'x'; 64 * 1024]);
    assert_eq!(client.response().status, 413);
    // More than the gate waits for the head of a request.
    for _ in 0..8 {
        client.send(vec![b'x'; 1000]);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(client.until_closed().escape_ascii().to_string(), "");
}

#[test]
fn an_upload_goes_on_after_the_response_if_the_server_takes_it() {
    // Says all it has to say at once, and then counts.
    let (tell, counted) = std::sync::mpsc::channel();
    let server = Hostile::start(move |mut stream, _| {
        let Some(head) = read_head(stream) else { return };
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
        let (mut piece, mut count) = (vec![0; 64 * 1024], 0);
        while count < length(&head) {
            let Ok(read @ 1..) = stream.read(&mut piece) else { break };
            count += read;
        }
        tell.send(count).unwrap();
    });
    let gate = Gate::start(server.address(), "");
    let mut client = gate.connect();
    client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 3000000\r\n\r\n").send(vec![b'x'; 64 * 1024]);
    assert_eq!(client.response().text(), "ok");
    client.send(vec![b'x'; 3_000_000 - 64 * 1024]);
    assert_eq!(counted.recv_timeout(testkit::PATIENCE).unwrap(), 3_000_000);
}

/// A client that sends all of an upload over TLS or HTTP/2 and then looks.
fn upload_over(gate: &Gate, identity: &Identity, protocol: &'static str, length: usize) -> (u16, String) {
    let config = tls::client(&identity.certificate, &[protocol]);
    run(async {
        let stream = tls::connect(gate.secure(), "shop.test", &config).await.unwrap();
        let request = hyper::Request::post("https://shop.test/reset")
            .header("host", "shop.test")
            .body(tls::Body::from(vec![b'x'; length]))
            .unwrap();
        let response = match protocol {
            "h2" => tls::h2(stream).await.send_request(request).await,
            _ => tls::h1(stream).await.send_request(request).await,
        };
        let response = response.unwrap();
        (response.status().as_u16(), tls::text(response).await)
    })
}

#[test]
fn a_refusal_reaches_a_client_over_tls_and_http_2() {
    let server = refusing();
    let identity = Identity::new(&["shop.test"]);
    let gate = Gate::start(server.address(), &identity.listener());
    for protocol in ["http/1.1", "h2"] {
        for length in [20_000, 3_000_000] {
            let (status, text) = upload_over(&gate, &identity, protocol, length);
            assert_eq!((status, text.as_str()), (413, "too large"), "{protocol} {length}");
        }
    }
}
