//! Requests that come to unix sockets.

use std::io::{Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use testkit::{Nginx, PATIENCE, Process, poll_until};
use watch::requests::Budget;
use watch::{Addresses, WatchOutcome};

use crate::counts::{EACH, check, watched_at};
use crate::is_able;
use crate::servers::{SIZES, documents};

/// Serves a directory at a unix socket, the head of each response first.
const NODE: &str = "
const [directory, path] = process.argv.slice(1), fs = require('fs');
require('http').createServer((request, response) => {
  let body;
  try { body = fs.readFileSync(directory + request.url); } catch { response.writeHead(404, { 'Content-Length': 7 }).end('nothing'); return; }
  response.writeHead(200, { 'Content-Length': body.length });
  response.flushHeaders();
  setTimeout(() => response.end(body), 1);
}).listen(path);
";

fn at(path: &Path) -> Addresses {
    Addresses::at_socket(path.to_str().unwrap())
}

/// Each document as often, and as often one that is not there.
fn visit(path: &Path) {
    for _ in 0..EACH {
        for name in SIZES.iter().map(|(name, _)| *name).chain(["missing"]) {
            let mut client = UnixStream::connect(path).unwrap();
            client.write_all(format!("GET /{name} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
            assert!(client.read_to_end(&mut Vec::new()).unwrap() > 0);
        }
    }
}

fn counts(path: &Path, server: &str) {
    poll_until(PATIENCE, "the server to listen", || UnixStream::connect(path).ok());
    let path = path.to_owned();
    let outcome = watched_at(at(&path), Budget::default(), move || visit(&path));
    check(&outcome, server);
    assert!(
        outcome.seen.followed.unwrap().watched.abs() < f64::EPSILON,
        "{server}: only what comes to ports is followed"
    );
}

#[test]
fn of_node_and_nginx_are_counted() {
    if !is_able() {
        return;
    }
    let place = documents();
    let path = place.path().join("node.sock");
    let _node = Process::start(Command::new("node").args(["-e", NODE, "--"]).arg(place.path()).arg(&path));
    counts(&path, "node");
    let path = place.path().join("nginx.sock");
    if let Some(_nginx) = Nginx::start(place.path(), &format!("listen unix:{};", path.display())) {
        counts(&path, "nginx");
    }
}

/// So many requests on one connection of HTTP/2, without TLS.
const STREAMS: &str = "
const [path, number] = process.argv.slice(1), http2 = require('http2');
const server = http2.createServer((request, response) => response.end('done\\n')).listen(path, () => {
  const client = http2.connect('http://localhost', { createConnection: () => require('net').connect(path) });
  let left = Number(number);
  const ask = () => client.request({ ':path': '/' }).resume().on('end', () => {
    if (--left) return ask();
    client.close();
    server.close();
  });
  process.stdin.once('data', ask);
});
";

#[test]
fn streams_are_counted() {
    if !is_able() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("socket");
    let mut command = Command::new("node");
    command.args(["-e", STREAMS, "--"]).arg(&path).arg("30").stdin(Stdio::piped());
    let mut node = command.spawn().unwrap();
    poll_until(PATIENCE, "the server to listen", || path.exists().then_some(()));
    let outcome = watched_at(at(&path), Budget::default(), move || {
        node.stdin.take().unwrap().write_all(b"go\n").unwrap();
        assert!(node.wait().unwrap().success());
    });
    let followed = outcome.seen.followed.unwrap();
    assert_eq!(followed.protocols.unwrap().http2, 1, "{followed:?}");
    assert_eq!(outcome.seen.requests.get("0-50k").unwrap().count, 30);
}

/// What a server of this test says, in these pieces, to one client that reads slowly.
fn said(pieces: Vec<&'static [u8]>) -> WatchOutcome {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("socket");
    let address = SocketAddr::from_pathname(&path).unwrap();
    let outcome = said_at(at(&path), address, pieces);
    drop(place);
    outcome
}

fn said_at(at: Addresses, address: SocketAddr, pieces: Vec<&'static [u8]>) -> WatchOutcome {
    let listener = UnixListener::bind_addr(&address).unwrap();
    watched_at(at, Budget::default(), move || {
        let mut client = UnixStream::connect_addr(&address).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let reading = std::thread::spawn(move || {
            let (mut all, mut piece) = (0, [0; 50_000]);
            loop {
                match client.read(&mut piece).unwrap() {
                    0 => return all,
                    length => all += length,
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        // What is not taken is said again.
        server.set_nonblocking(true).unwrap();
        for mut piece in pieces.clone() {
            while !piece.is_empty() {
                match server.write(piece) {
                    Ok(length) => piece = &piece[length..],
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
            }
        }
        drop(server);
        assert_eq!(reading.join().unwrap(), pieces.iter().map(|piece| piece.len()).sum::<usize>());
    })
}

#[test]
fn bytes_that_are_not_taken_at_once_are_counted_once() {
    if !is_able() {
        return;
    }
    static BODY: [u8; 3_000_000] = [b'x'; 3_000_000];
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n";
    let outcome = said(vec![HEAD, &BODY, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]);
    let seen = &outcome.seen;
    let large = seen.requests.get("500k-").unwrap();
    let bytes = large.bytes_rate / large.rate;
    assert_eq!((large.count, bytes.round() as usize), (1, HEAD.len() + BODY.len()));
    assert_eq!(seen.requests.get("0-50k").unwrap().status.client_errors, 1);
}

#[test]
fn abstract_names_begin_with_an_at_sign() {
    if !is_able() {
        return;
    }
    let name = format!("headworks-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let at = Addresses::at_socket(format!("@{name}"));
    let outcome = said_at(at, address, vec![b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"; 3]);
    assert_eq!(outcome.seen.requests.get("0-50k").unwrap().status.client_errors, 3);
}

/// Other protocols than HTTP are named.
#[test]
fn other_protocols_are_counted_as_connections() {
    if !is_able() {
        return;
    }
    let outcome = said(vec![b"\x01\x06\0\x01\0\x05\x03\0hello\0\0\0".as_slice(); 20]);
    let protocols = outcome.seen.followed.unwrap().protocols.unwrap();
    assert_eq!((protocols.http1, protocols.other), (0, 1), "{protocols:?}");
}
