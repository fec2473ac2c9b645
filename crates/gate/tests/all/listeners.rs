//! Several listeners, and the proxies in front of them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;

use crate::common::tls::Identity;
use crate::common::{Gate, echo, origin, request};
use testkit::{PATIENCE, Raw, poll_until};

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

fn address(gate: &Gate, index: usize) -> SocketAddr {
    gate.urls[index].split_once("://").unwrap().1.parse().unwrap()
}

/// A header of version 2 for a client at 192.0.2.7.
fn second() -> Vec<u8> {
    [SIGNATURE, &[0x21, 0x11, 0, 12, 192, 0, 2, 7, 198, 51, 100, 1, 0x12, 0x67, 1, 187]].concat()
}

#[test]
fn unix_sockets_and_ipv6_are_listened_on() {
    let server = echo("");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("gate.sock");
    let listeners = format!(
        "[[listener]]\naddress = 'unix:{}'\n[[listener]]\naddress = '[::1]:0'\nname = 'six'\n",
        path.display()
    );
    // A socket that was left behind is not in the way.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let gate = Gate::start(server.address(), &listeners);
    assert_eq!(gate.urls[1], format!("unix:{}", path.display()));
    let mut local = UnixStream::connect(&path).unwrap();
    local.write_all(request("/local", "Connection: close\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    local.read_to_string(&mut answer).unwrap();
    assert!(answer.to_lowercase().contains("x-forwarded-for: 127.0.0.1\r\n"), "{answer}");
    let answer = Raw::connect(address(&gate, 2)).get("/six").response().text().to_lowercase();
    assert!(answer.contains("x-forwarded-for: ::1\r\n"), "{answer}");
    drop(gate);
    assert!(!path.exists());
}

#[test]
fn both_families_can_have_a_listener_at_one_port() {
    let server = echo("");
    let address = testkit::free_address();
    let text = format!(
        "upstream = '{}'\n[[listener]]\naddress = '[::]:{}'\n[[listener]]\naddress = '{address}'\n",
        server.address(),
        address.port()
    );
    let gate = Gate::run(&text, std::path::Path::new("."));
    let answer = Raw::connect(address).get("/").response().text().to_lowercase();
    assert!(answer.contains("x-forwarded-for: 127.0.0.1\r\n"), "{answer}");
    let six = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port()));
    let answer = Raw::connect(six).get("/").response().text().to_lowercase();
    assert!(answer.contains("x-forwarded-for: ::1\r\n"), "{answer}");
    drop(gate);
    // Alone, the one for IPv6 is for both.
    let text = format!("upstream = '{}'\n[[listener]]\naddress = '[::]:0'\n", server.address());
    let gate = Gate::run(&text, std::path::Path::new("."));
    let four = SocketAddr::from(([127, 0, 0, 1], gate.address.port()));
    let answer = Raw::connect(four).get("/").response().text().to_lowercase();
    assert!(answer.contains("x-forwarded-for: 127.0.0.1\r\n"), "{answer}");
}

#[test]
fn proxies_say_who_connects() {
    let server = echo("");
    let identity = Identity::new(&["localhost"]);
    let (cert, key) = (identity.cert(), identity.key());
    let listeners = format!(
        "[[listener]]\naddress = '127.0.0.1:0'\nproxy-protocol = '127.0.0.0/8'\n\
         [[listener]]\naddress = '127.0.0.1:0'\nproxy-protocol = '127.0.0.0/8'\ncertificate = [{{ cert = '{}', key = '{}' }}]\n\
         [[rule]]\nclass = 'premium'\naddress = '192.0.2.0/24'\n",
        cert.display(),
        key.display()
    );
    let gate = Gate::start(server.address(), &listeners);
    for header in [&b"PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n"[..], &second()] {
        let mut client = Raw::connect(address(&gate, 1));
        let answer = client.send(header).get("/").response().text().to_lowercase();
        assert!(answer.contains("x-forwarded-for: 192.0.2.7\r\n"), "{answer}");
        let answer = client.get("/again").response().text().to_lowercase();
        assert!(answer.contains("x-forwarded-for: 192.0.2.7\r\n"), "{answer}");
    }
    // Byte by byte, and for itself.
    let mut slow = Raw::connect(address(&gate, 1));
    for byte in [SIGNATURE, &[0x20, 0, 0, 0]].concat() {
        slow.send([byte]);
    }
    assert!(slow.get("/").response().text().to_lowercase().contains("x-forwarded-for: 127.0.0.1\r\n"));
    let classes = &gate.state()["classes"];
    assert_eq!((&classes[0]["arrived"], &classes[1]["arrived"]), (&4.into(), &1.into()));

    // Below TLS too.
    let mut client = std::net::TcpStream::connect(address(&gate, 2)).unwrap();
    client.write_all(&second()).unwrap();
    client.set_nonblocking(true).unwrap();
    let config = crate::common::tls::client(&identity.certificate, &["http/1.1"]);
    let answer = crate::common::tls::run(async {
        let socket = tokio::net::TcpStream::from_std(client).unwrap();
        let stream = crate::common::tls::over(socket, "localhost", &config).await.unwrap();
        let request = hyper::Request::get("/").header("host", "localhost").body(Default::default()).unwrap();
        let response = crate::common::tls::h1(stream).await.send_request(request).await.unwrap();
        crate::common::tls::text(response).await.to_lowercase()
    });
    assert!(answer.contains("x-forwarded-for: 192.0.2.7\r\n"), "{answer}");
}

#[test]
fn a_proxy_that_does_not_say_is_turned_away_and_a_stranger_is_not_believed() {
    let origin = origin();
    let listeners = "[[listener]]\naddress = '127.0.0.1:0'\nproxy-protocol = ['127.0.0.1', '::1']\n\
         [[listener]]\naddress = '127.0.0.1:0'\nproxy-protocol = '10.0.0.0/8'\n[client]\nidle-timeout = '300ms'\n";
    let gate = Gate::start(origin.address(), listeners);
    let mut none = Raw::connect(address(&gate, 1));
    assert_eq!(none.get("/bytes/1").until_closed(), b"");
    let mut half = Raw::connect(address(&gate, 1));
    assert_eq!(half.send("PROXY TCP4 1").until_closed(), b"");
    for header in [b"PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n".to_vec(), second()] {
        for stranger in [address(&gate, 2), gate.address] {
            let mut client = Raw::connect(stranger);
            let answer = String::from_utf8(client.send(&header).get("/bytes/1").until_closed()).unwrap();
            assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        }
    }
    assert_eq!(Raw::connect(address(&gate, 2)).get("/bytes/1").response().status, 200);
}

#[test]
fn trusted_proxies_say_for_whom_they_ask() {
    let server = echo("");
    let more = "trusted-proxies = '127.0.0.1'\nforwarded = 'both'\n[[rule]]\nclass = 'premium'\naddress = '192.0.2.0/24'\n";
    let gate = Gate::start(server.address(), more);
    let told = "X-Forwarded-For: 127.0.0.1, 192.0.2.7\r\nX-Forwarded-Proto: https\r\n";
    let answer = gate.get("/", told);
    assert!(answer.header("set-cookie").unwrap().ends_with("; Secure"), "{}", answer.head);
    let seen = answer.text().to_lowercase();
    for line in [
        "x-forwarded-for: 127.0.0.1, 192.0.2.7, 127.0.0.1\r\n",
        "x-forwarded-proto: https\r\n",
        "forwarded: for=127.0.0.1, for=192.0.2.7, for=127.0.0.1;host=\"test\";proto=http\r\n",
    ] {
        assert!(seen.contains(line), "{line} in {seen}");
    }
    gate.get("/", "");
    let classes = &gate.state()["classes"];
    assert_eq!((&classes[0]["arrived"], &classes[1]["arrived"]), (&1.into(), &1.into()));
}

#[test]
fn one_protocol_alone_can_be_spoken() {
    let origin = origin();
    let gate = Gate::start(
        origin.address(),
        "[[listener]]\naddress = '127.0.0.1:0'\nprotocols = 'http/1.1'\n[[listener]]\naddress = '127.0.0.1:0'\nprotocols = 'h2'\n",
    );
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let answer = Raw::connect(address(&gate, 1)).send(preface).until_closed();
    assert!(answer.starts_with(b"HTTP/1.1 "), "{}", answer.escape_ascii());
    let mut only_http2 = std::net::TcpStream::connect(address(&gate, 2)).unwrap();
    only_http2.set_read_timeout(Some(PATIENCE)).unwrap();
    only_http2.write_all(preface).unwrap();
    let mut frame = [0; 9];
    only_http2.read_exact(&mut frame).unwrap();
    assert_eq!(frame[3], 4, "SETTINGS first: {frame:?}");
    drop(only_http2);
    poll_until(PATIENCE, "the client to be forgotten", || {
        (gate.state()["connections"]["clients"] == 0).then_some(())
    });
}
