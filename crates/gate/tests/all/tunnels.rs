//! WebSockets and other protocols that a connection can go over to.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};

use crate::common::{Gate, read_head};
use testkit::{Hostile, PATIENCE, Raw, poll_until};

const ASK: &str = "GET /chat HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// A server that answers every request with these bytes and sends back what comes then.
fn echoing(says: &'static str) -> Hostile {
    Hostile::start(move |mut stream, _| {
        if read_head(stream).is_none() || stream.write_all(says.as_bytes()).is_err() {
            return;
        }
        let mut piece = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut piece) {
            if stream.write_all(&piece[..length]).is_err() {
                return;
            }
        }
        let _ = stream.write_all(b"goodbye");
    })
}

#[track_caller]
fn read(mut stream: &TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

#[track_caller]
fn tunnel(gate: &Gate) -> Raw {
    let mut client = gate.connect();
    let head = client.send(ASK).head().to_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    for line in
        ["connection: upgrade", "upgrade: websocket", "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="]
    {
        assert!(head.contains(line), "{line} in {head}");
    }
    client
}

#[test]
fn bytes_pass_both_ways_and_each_way_ends_by_itself() {
    let server = echoing(SWITCH);
    let gate = Gate::start(server.address(), "window = 1");
    let mut client = tunnel(&gate);
    for message in ["hello", "\0\r\n\r\nGET / HTTP/1.1\r\n"] {
        client.send(message);
        assert_eq!(read(client.stream(), message.len()), message.as_bytes());
    }
    // A tunnel has no place in the window.
    let state = gate.state();
    assert_eq!((&state["in_service"], &state["upstream"]["tunnels"]["open"]), (&0.into(), &1.into()));
    assert_eq!(state["connections"]["upstream"], 1);
    let long = vec![b'x'; 3_000_000];
    let (mut writer, expected) = (client.stream().try_clone().unwrap(), long.clone());
    let sending = std::thread::spawn(move || {
        writer.write_all(&long).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    assert!(read(client.stream(), expected.len()) == expected);
    sending.join().unwrap();
    assert_eq!(client.until_closed(), b"goodbye");
    gate.wait_for("the tunnel to end", |state| {
        state["upstream"]["tunnels"]["open"] == 0 && state["connections"]["upstream"] == 0
    });
}

#[test]
fn what_the_client_sends_too_early_waits_for_the_server_s_consent() {
    let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
    let server = Hostile::start({
        let seen = Arc::clone(&seen);
        move |mut stream, number| {
            read_head(stream);
            if number == 0 {
                let _ = stream.write_all(b"HTTP/1.1 426 Upgrade Required\r\ncontent-length: 2\r\n\r\nno");
            } else {
                let _ = stream.write_all(SWITCH.as_bytes());
            }
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut piece) {
                seen.lock().unwrap().extend_from_slice(&piece[..length]);
            }
        }
    });
    let gate = Gate::start(server.address(), "");
    // The server refuses, so the rest is a request like any other, and a bad one here.
    let mut client = gate.connect();
    client.send([ASK, "DELETE /secret HTTP/1.1\r\nno header\r\n\r\n"].concat());
    assert_eq!(client.response().status, 426);
    let rest = String::from_utf8(client.until_closed()).unwrap();
    assert!(rest.starts_with("HTTP/1.1 400"), "{rest:?}");
    assert_eq!(*seen.lock().unwrap(), b"");
    // The server agrees, so it gets what has come.
    let early = "GET /early HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut client = gate.connect();
    assert!(client.send([ASK, early].concat()).head().starts_with("HTTP/1.1 101"));
    client.send("late");
    poll_until(PATIENCE, "the bytes at the server", || {
        (*seen.lock().unwrap() == [early, "late"].concat().into_bytes()).then_some(())
    });
}

#[test]
fn only_a_101_with_the_protocol_that_was_asked_for_begins_a_tunnel() {
    for (says, status) in [
        ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n", 502),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", 502),
        ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n", 502),
        ("HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: websocket\r\ncontent-length: 2\r\n\r\nhi", 200),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", 404),
    ] {
        let server = echoing(says);
        let gate = Gate::start(server.address(), "");
        let mut client = gate.connect();
        let response = client.send(ASK).response();
        assert_eq!(response.status, status, "{says}");
        assert_eq!(response.header("upgrade"), None, "{says}");
        let state = gate.wait_for("the place", |state| state["in_service"] == 0);
        assert_eq!(state["upstream"]["tunnels"]["open"], 0, "{says}");
        assert_eq!(state["upstream"]["tunnels"]["opened"], 0, "{says}");
    }
}

#[test]
fn upgrade_is_ignored_where_it_may_not_be() {
    let server = crate::common::echo("");
    let gate = Gate::start(server.address(), "");
    for request in [
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: websocket\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket, h2c\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nConnection: Upgrade, keep-alive\r\nUpgrade: websocket\r\n\r\n",
    ] {
        let response = gate.connect().send(request).response();
        let seen = response.text().to_lowercase();
        assert_eq!(response.status, 200, "{request}");
        assert!(!seen.contains("upgrade") && !seen.contains("http2-settings"), "{seen}");
    }
    let post = "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nhi";
    assert!(!gate.connect().send(post).response().text().to_lowercase().contains("upgrade"));
    let gate = Gate::start(server.address(), "tunnels = { protocols = [] }");
    assert!(!gate.connect().send(ASK).response().text().to_lowercase().contains("upgrade"));
}

#[test]
fn there_are_only_so_many() {
    let server = echoing(SWITCH);
    let gate = Gate::start(server.address(), "tunnels = { most = 2 }");
    let held = [tunnel(&gate), tunnel(&gate)];
    let refused = gate.connect().send(ASK).response();
    assert_eq!((refused.status, refused.text()), (503, "There are too many tunnels.\n"));
    drop(held);
    gate.wait_for("the tunnels to end", |state| state["upstream"]["tunnels"]["open"] == 0);
    tunnel(&gate);
    // Half of all connections are left to requests.
    let gate = Gate::start(server.address(), "limits = { connections = 8 }");
    let _held = [tunnel(&gate), tunnel(&gate)];
    assert_eq!(gate.connect().send(ASK).response().status, 503);
    // Of one address, only its share.
    let gate = Gate::start(server.address(), "client-share = 0.5\ntunnels = { most = 2 }");
    let _held = tunnel(&gate);
    assert_eq!(gate.connect().send(ASK).response().status, 503);
    // Behind a proxy, that is whom it names.
    let proxied = "trusted-proxies = ['127.0.0.0/8']\nclient-share = 0.5\ntunnels = { most = 2 }";
    let gate = Gate::start(server.address(), proxied);
    let mut held = Vec::new();
    for (client, status) in [(1, "101"), (1, "503"), (2, "101")] {
        let mut connection = gate.connect();
        let named = format!("X-Forwarded-For: 192.0.2.{client}\r\nHost:");
        let head = connection.send(ASK.replace("Host:", &named)).head();
        assert_eq!(head.split(' ').nth(1), Some(status), "client {client}: {head}");
        held.push(connection);
    }
}

#[test]
fn a_tunnel_in_which_nothing_moves_is_closed() {
    let server = echoing(SWITCH);
    let gate = Gate::start(server.address(), "tunnels = { idle-timeout = '200ms' }");
    let mut client = tunnel(&gate);
    client.send("x");
    assert_eq!(client.until_closed(), b"x");
    gate.wait_for("the tunnel to end", |state| state["upstream"]["tunnels"]["open"] == 0);
}

#[test]
fn either_side_that_goes_away_ends_it_for_the_other() {
    let server = Hostile::start(|mut stream, _| {
        read_head(stream);
        let _ = stream.write_all(SWITCH.as_bytes());
        let _ = stream.read(&mut [0]);
    });
    let gate = Gate::start(server.address(), "");
    let mut client = tunnel(&gate);
    assert_eq!(client.send("x").until_closed(), b"");
    drop(client);
    drop(tunnel(&gate));
    gate.wait_for("the tunnels to end", |state| {
        state["upstream"]["tunnels"]["open"] == 0 && state["connections"]["upstream"] == 0
    });
}

/// A Close frame of the gate's to a client: 1001, going away (RFC 6455 section 7.4.1).
const GOING_AWAY: [u8; 4] = [0x88, 2, 3, 233];
/// The client's answer, masked with zeros.
const GOODBYE: [u8; 8] = [0x88, 0x82, 0, 0, 0, 0, 3, 233];

/// A server that answers a message of eight bytes and keeps what comes.
fn keeping(answer: &'static [u8]) -> (Hostile, Arc<Mutex<Vec<Vec<u8>>>>) {
    let seen: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let server = Hostile::start({
        let seen = Arc::clone(&seen);
        move |mut stream, _| {
            read_head(stream);
            let _ = stream.write_all(SWITCH.as_bytes());
            let mut all = vec![0; 8];
            let _ = stream.read_exact(&mut all).and_then(|()| stream.write_all(answer));
            let _ = stream.read_to_end(&mut all);
            seen.lock().unwrap().push(all);
        }
    });
    (server, seen)
}

#[test]
fn when_the_gate_stops_both_sides_of_each_websocket_are_told() {
    const TEXT: &[u8] = &[0x81, 2, b'h', b'i'];
    let (server, seen) = keeping(TEXT);
    // Neither the time of requests nor a service manager has to wait for the last of them.
    let gate = Gate::start(
        server.address(),
        "client = { drain-timeout = '60s' }\ntunnels = { drain-timeout = '1s' }",
    );
    let mut clients: Vec<Raw> = (0..8).map(|_| tunnel(&gate)).collect();
    for client in &mut clients {
        client.send([0x81, 0x82, 0, 0, 0, 0, b'h', b'o']);
        assert_eq!(read(client.stream(), TEXT.len()), TEXT);
    }
    // One is gone without a word, and one never answers.
    drop(clients.pop());
    let silent = clients.pop();
    let stopping = std::thread::spawn(move || drop(gate));
    for mut client in clients {
        assert_eq!(read(client.stream(), 4), GOING_AWAY);
        assert_eq!(client.send(GOODBYE).until_closed(), b"");
    }
    assert_eq!(silent.unwrap().until_closed(), GOING_AWAY);
    stopping.join().unwrap();
    poll_until(PATIENCE, "the servers to see the end", || (seen.lock().unwrap().len() == 8).then_some(()));
    let mut told = 0;
    for all in &*seen.lock().unwrap() {
        assert_eq!(all[..8], [0x81, 0x82, 0, 0, 0, 0, b'h', b'o']);
        match all[8..] {
            // Its client was gone before.
            [] => {}
            [0x88, 0x82, a, b, _, _, x, y] => {
                assert_eq!([x ^ a, y ^ b], [3, 233]);
                told += 1;
            }
            ref close => panic!("{close:?}"),
        }
    }
    assert!(told >= 7, "{told} servers of those whose clients were there");
}

#[test]
fn tunnels_and_requests_have_each_their_own_time_to_end() {
    // A request that takes longer than it may is cut off; a tunnel goes on meanwhile.
    let server = Hostile::start(|mut stream, _| {
        let Some(head) = read_head(stream) else { return };
        if head.starts_with("GET /chat") {
            let _ = stream.write_all(SWITCH.as_bytes());
        }
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let more = "client = { drain-timeout = '100ms' }\ntunnels = { drain-timeout = '60s' }";
    let gate = Gate::start(server.address(), more);
    // The first is told at once, and the second in half a minute.
    let (first, mut second) = (tunnel(&gate), tunnel(&gate));
    let mut request = gate.connect();
    request.get("/slow");
    gate.wait_for("the request to be at the server", |state| state["in_service"] == 1);
    let stopping = std::thread::spawn(move || drop(gate));
    assert_eq!(read(first.stream(), 4), GOING_AWAY);
    assert_eq!(request.until_closed(), b"");
    // Still there: what it says passes.
    second.send(GOODBYE).finish_sending();
    drop(first);
    assert_eq!(second.until_closed(), b"");
    stopping.join().unwrap();
}

#[test]
fn a_websocket_that_begins_while_the_gate_stops_is_told_too() {
    let (go, held) = std::sync::mpsc::channel::<()>();
    let held = Mutex::new(held);
    let server = Hostile::start(move |mut stream, _| {
        read_head(stream);
        let _ = held.lock().unwrap().recv();
        let _ = stream.write_all(SWITCH.as_bytes());
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let gate = Gate::start(server.address(), "tunnels = { drain-timeout = '0s' }");
    let mut client = gate.connect();
    client.send(ASK);
    gate.wait_for("the request to be at the server", |state| state["in_service"] == 1);
    let address = gate.address;
    let stopping = std::thread::spawn(move || drop(gate));
    poll_until(PATIENCE, "the port to be closed", || TcpStream::connect(address).is_err().then_some(()));
    go.send(()).unwrap();
    let head = client.head();
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    assert_eq!(client.until_closed(), GOING_AWAY);
    stopping.join().unwrap();
}

#[test]
fn clients_of_a_gate_that_is_replaced_come_back_to_the_next_one() {
    let server = echoing(SWITCH);
    let directory = tempfile::tempdir().unwrap();
    let control = directory.path().join("gate.sock");
    let more = format!(
        "[operation]\ncontrol = '{}'\n[tunnels]\ndrain-timeout = '1s'\n[client]\ndrain-timeout = '60s'",
        control.display()
    );
    let first = Gate::start(server.address(), &more);
    let clients: Vec<Raw> = (0..3).map(|_| tunnel(&first)).collect();
    let second = Gate::start(server.address(), &more);
    for mut client in clients {
        assert_eq!(read(client.stream(), 4), GOING_AWAY);
        client.send(GOODBYE);
        assert_eq!(client.until_closed(), b"");
        let mut again = tunnel(&second);
        again.send("x");
        assert_eq!(read(again.stream(), 1), b"x");
    }
    assert_eq!(second.state()["upstream"]["tunnels"]["opened"], 3);
}
