//! Servers that may not do all that the library would: few descriptors, and filters of system calls.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use testkit::PATIENCE;

use crate::endings::{ask, attached_again, in_order};
use crate::properties::{Gate, Site, the_window_holds};
use crate::servers::Server;

const FILTERED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/attach/filtered.py");

fn filtered(server: Server, what: &str) -> Server {
    server.through(&["python3", FILTERED, what, "--"])
}

/// Asks for pages that take a while, all at once, each on a connection of its own; gives how many were answered within `patience`.
fn asked_at_once(server: &Server, number: usize, patience: Duration) -> usize {
    thread::scope(|scope| {
        let asked: Vec<_> =
            (0..number).map(|_| scope.spawn(|| ask(server, Server::SLOW, patience))).collect();
        asked.into_iter().map(|one| one.join().unwrap()).filter(|answer| matches!(answer, Ok(true))).count()
    })
}

/// With so many descriptors. It says a lot when there are no more.
fn limited(server: Server, number: u32) -> Server {
    let errors = server.directory.path().join("errors.log");
    let limited = format!("ulimit -n {number}; exec \"$@\" 2> {}", errors.display());
    server.through(&["sh", "-c", &limited, "sh"])
}

/// More at a time than the server has descriptors for: what it loses then it would lose without a gate as well.
fn few_descriptors(server: Server) {
    let server = limited(server, 40);
    let site = Site::of(&server);
    let gate = site.gate("window = 100");
    let running = site.start();
    let answered = asked_at_once(&server, 80, Duration::from_secs(2));
    assert!(answered > 10, "{answered}");
    gate.is_empty();
    gate.kill();
    let gate = site.gate("window = 1");
    attached_again(&site, &gate);
    in_order(&site, &gate);
    drop(running);
}

/// The server has accepted most of its connections itself when it runs out of descriptors: what the gate sends then waits.
#[test]
fn connections_wait_until_there_are_descriptors() {
    // It needs no other descriptors than those of connections.
    let server = limited(Server::uvicorn("asyncio"), 200);
    let site = Site::of(&server);
    let gate = site.gate("window = 100");
    let running = site.start();
    let keep = || {
        let mut stream = TcpStream::connect(server.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", Server::FAST).as_bytes())?;
        let mut start = [0; 12];
        stream.read_exact(&mut start)?;
        std::io::Result::Ok((start == *b"HTTP/1.1 200").then_some(stream))
    };
    let kept: Vec<_> = (0..250).map_while(|_| keep().ok().flatten()).collect();
    assert!(kept.len() > 100 && kept.len() < 200, "{} are kept", kept.len());
    let answered = thread::scope(|scope| {
        let asked = scope.spawn(|| asked_at_once(&server, 10, PATIENCE));
        // It looks again after a second.
        thread::sleep(Duration::from_millis(2500));
        drop(kept);
        asked.join().unwrap()
    });
    assert_eq!(answered, 10);
    gate.is_empty();
    drop(running);
}

#[test]
fn nginx_with_few_descriptors() {
    few_descriptors(Server::nginx(2, ""));
}

#[test]
fn uvicorn_with_few_descriptors() {
    few_descriptors(Server::uvicorn("asyncio"));
}

#[test]
fn a_thread_for_each_connection_with_few_descriptors() {
    few_descriptors(Server::python());
}

/// A server that cannot reach the gate serves by itself.
fn serves_without(gate: &Gate, site: &Site<'_>) {
    let running = site.start();
    for _ in 0..3 {
        assert_eq!(site.once(Server::FAST, "").0, 200);
    }
    assert_eq!(asked_at_once(site.server, 4, PATIENCE), 4);
    assert_eq!(gate.metric("headworks_gate_dispatched_total"), 0.0);
    drop(running);
}

#[test]
fn a_server_that_may_have_no_sockets_of_files_serves_by_itself() {
    for server in [Server::nginx(2, ""), Server::python()] {
        let server = filtered(server, "unix");
        let site = Site::of(&server);
        serves_without(&site.gate("window = 1"), &site);
    }
}

/// Without being told of files it looks for a gate now and then.
#[test]
fn a_server_that_may_not_watch_files_is_attached_again() {
    for server in [Server::nginx(2, ""), Server::python()] {
        let server = filtered(server, "inotify_init1");
        let site = Site::of(&server);
        let gate = site.gate("window = 1");
        let running = site.start();
        assert_eq!(site.once(Server::FAST, "").0, 200);
        the_window_holds(&site);
        gate.kill();
        assert_eq!(site.once(Server::FAST, "").0, 200);
        let gate = site.gate("window = 1");
        attached_again(&site, &gate);
        drop(running);
    }
}
