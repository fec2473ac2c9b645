//! Servers as Debian ships them: every request in their logs is seen once.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use testkit::{Apache, LogLine, Mpm, Nginx, Process, Raw, free_address};
use watch::requests::Finished;

use crate::{Followed, is_able};

pub(super) const SIZES: [(&str, usize); 3] = [("small", 1000), ("medium", 100_000), ("large", 3_000_000)];

pub(super) fn documents() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, size) in SIZES {
        // No part of it is like another.
        let bytes: Vec<u8> =
            (0..size as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        fs::write(place.path().join(name), bytes).unwrap();
    }
    place
}

pub(super) fn address(url: &str) -> SocketAddr {
    url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// Clients at once, with a connection for each request, with several requests on each, and with a request
/// whose body comes late.
fn visit(address: SocketAddr) -> std::thread::JoinHandle<usize> {
    std::thread::spawn(move || {
        let client = move |number: usize| {
            let mut asked = 0;
            for (name, _) in SIZES {
                let head = format!("GET /{name} HTTP/1.0\r\n\r\n");
                Raw::connect(address).send(head).until_closed();
                asked += 1;
            }
            let mut kept = Raw::connect(address);
            for (name, size) in SIZES.iter().cycle().take(10 + number) {
                assert_eq!(kept.get(&format!("/{name}")).response().body.len(), *size);
                asked += 1;
            }
            asked
        };
        let clients: Vec<_> = (0..8).map(|number| std::thread::spawn(move || client(number))).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    })
}

/// By the client's port, for each request in the order in which they came, the bytes of its body.
fn by_port<'a>(all: impl Iterator<Item = (u64, u64)> + 'a) -> BTreeMap<u64, Vec<u64>> {
    let mut ports: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    all.for_each(|(port, bytes)| ports.entry(port).or_default().push(bytes));
    ports
}

/// The bytes of the header are the server's business.
fn body(request: &Finished) -> u64 {
    let sizes = SIZES.map(|(_, size)| size as u64);
    sizes.into_iter().find(|size| (*size..*size + 600).contains(&request.bytes_sent)).unwrap_or(0)
}

fn agree(told: &[Finished], asked: usize, logged: &[LogLine]) {
    assert_eq!((told.len(), logged.len()), (asked, asked), "told, logged, asked");
    assert!(told.iter().all(|request| request.parsed.is_some() && request.sent.is_some()), "{told:?}");
    let in_order = told.iter().all(|request| {
        let parsed = request.parsed.unwrap();
        request.began <= parsed && parsed <= request.sent.unwrap() && request.sent.unwrap() <= request.ended
    });
    assert!(in_order, "{told:?}");
    assert!(told.iter().all(|request| request.used[1].cpu().as_nanos() > 0), "all were worked on");
    let mut told: Vec<_> = told.iter().collect();
    told.sort_by_key(|request| request.began);
    let told = by_port(told.into_iter().map(|request| (u64::from(request.client_port), body(request))));
    let logged = by_port(logged.iter().map(|line| (line.connection, line.body_bytes)));
    assert_eq!(told, logged);
}

fn apache(processing: Mpm) {
    if !is_able() {
        return;
    }
    let documents = documents();
    let Some(apache) = Apache::start(processing, documents.path(), "KeepAlive On") else { return };
    let address = address(apache.url());
    let followed = Followed::begin(address.port());
    let (told, asked) = followed.until(visit(address));
    agree(&told, asked, &apache.stop());
}

#[test]
fn apache_with_processes() {
    apache(Mpm::Prefork);
}

#[test]
fn apache_with_threads() {
    apache(Mpm::Worker);
}

#[test]
fn apache_with_threads_and_events() {
    apache(Mpm::Event);
}

#[test]
fn nginx() {
    if !is_able() {
        return;
    }
    let documents = documents();
    let Some(nginx) = Nginx::start(documents.path(), "") else { return };
    let address = address(nginx.url());
    let followed = Followed::begin(address.port());
    let (told, asked) = followed.until(visit(address));
    let logged = nginx.stop();
    assert_eq!((told.len(), logged.len()), (asked, asked), "told, logged, asked");
    let mut bodies =
        [told.iter().map(body).collect::<Vec<_>>(), logged.iter().map(|line| line.body_bytes).collect()];
    bodies.iter_mut().for_each(|bodies| bodies.sort_unstable());
    assert_eq!(bodies[0], bodies[1]);
}

/// Clients with a connection for each request, while the server is told twice to begin anew.
fn visit_reloaded(address: SocketAddr, process: u32, reload: Signal) -> std::thread::JoinHandle<usize> {
    let process = Pid::from_raw(process as i32).unwrap();
    std::thread::spawn(move || {
        for number in 0..300 {
            if number == 100 || number == 200 {
                kill_process(process, reload).unwrap();
            }
            let got = Raw::connect(address).send("GET /small HTTP/1.0\r\n\r\n").until_closed();
            assert!(got.len() > 1000, "request {number}: {}", got.escape_ascii());
        }
        300
    })
}

/// Apache's children end and others are forked; nginx's worker ends, and so does its configuration.
#[test]
fn servers_that_are_reloaded() {
    if !is_able() {
        return;
    }
    let documents = documents();
    let Some(apache) = Apache::start(Mpm::Prefork, documents.path(), "KeepAlive On") else { return };
    let followed = Followed::begin(address(apache.url()).port());
    let (told, asked) = followed.until(visit_reloaded(address(apache.url()), apache.pid(), Signal::USR1));
    agree(&told, asked, &apache.stop());

    let Some(nginx) = Nginx::start(documents.path(), "") else { return };
    let followed = Followed::begin(address(nginx.url()).port());
    let (told, asked) = followed.until(visit_reloaded(address(nginx.url()), nginx.pid(), Signal::HUP));
    assert_eq!((told.len(), nginx.stop().len()), (asked, asked), "told, logged, asked");
}

/// Killed in the middle of a request, and started again at the same place.
#[test]
fn a_server_that_dies_and_comes_back() {
    if !is_able() {
        return;
    }
    let documents = documents();
    let address = free_address();
    let start = move |documents: &Path| {
        Process::listening(&mut web_server_of_python(documents, address.port()), address)
    };
    let visit = move || {
        for _ in 0..20 {
            assert!(Raw::connect(address).send("GET /small HTTP/1.0\r\n\r\n").until_closed().len() > 1000);
        }
    };
    let server = start(documents.path());
    let followed = Followed::begin(address.port());
    let (told, ()) = followed.until(std::thread::spawn(move || {
        visit();
        let mut interrupted = Raw::connect(address);
        interrupted.send("GET /sm");
        drop(server);
        let _server = start(documents.path());
        visit();
    }));
    let (whole, others): (Vec<Finished>, Vec<Finished>) =
        told.into_iter().partition(|request| request.bytes_sent > 1000);
    assert_eq!(whole.len(), 40, "{whole:?}");
    assert!(others.len() <= 1, "the one that got nothing: {others:?}");
}

/// A server that no probe is known for.
fn unknown(program: &str, start: impl FnOnce(&Path, u16) -> Command, keeps_alive: bool) {
    if !is_able() {
        return;
    }
    if Command::new(program).arg("--version").stdout(Stdio::null()).status().is_err() {
        testkit::skip(&format!("{program} is not installed"));
        return;
    }
    let documents = documents();
    let address = free_address();
    let _server = Process::listening(&mut start(documents.path(), address.port()), address);
    let followed = Followed::begin(address.port());
    let (told, asked) = followed.until(std::thread::spawn(move || {
        let mut asked = 0;
        for (name, size) in SIZES.iter().cycle().take(30) {
            let head = format!("GET /{name} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            assert!(Raw::connect(address).send(head).until_closed().len() > *size);
            asked += 1;
        }
        let mut kept = Raw::connect(address);
        for (name, size) in SIZES.iter().cycle().take(if keeps_alive { 12 } else { 0 }) {
            assert_eq!(kept.get(&format!("/{name}")).response().body.len(), *size);
            asked += 1;
        }
        asked
    }));
    assert_eq!(told.len(), asked, "{told:?}");
    let sizes: Vec<_> = told.iter().map(body).collect();
    for (_, size) in SIZES {
        assert_eq!(
            sizes.iter().filter(|is| **is == size as u64).count(),
            asked / SIZES.len(),
            "{size}: {sizes:?}"
        );
    }
}

#[test]
fn python() {
    unknown("python3", web_server_of_python, false);
}

fn web_server_of_python(content: &Path, port: u16) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "http.server", "--bind", "127.0.0.1", "--directory"]);
    command.arg(content).arg(port.to_string());
    command
}

#[test]
fn node() {
    let start = |content: &Path, port: u16| {
        let script = format!(
            "const fs = require('fs'); require('http').createServer((request, response) => {{ \
             const file = '{}' + request.url; \
             response.setHeader('Content-Length', fs.statSync(file).size); \
             fs.createReadStream(file).pipe(response); }}).listen({port}, '127.0.0.1')",
            content.display()
        );
        let mut command = Command::new("node");
        command.args(["-e", &script]);
        command
    };
    unknown("node", start, true);
}
