//! Kept connections of servers with a process for each: those on which nothing is asked do not hold the processes that others wait for.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use testkit::{PATIENCE, Raw, free_address, poll_until};

use crate::endings::{attached_again, gates_are_killed, in_order};
use crate::properties::Site;
use crate::servers::Server;

/// Apache with so many processes, each for one connection at a time, which it would keep for half a minute.
fn processes(number: u32) -> Server {
    processes_that_listen(number, "")
}

fn processes_that_listen(number: u32, listen: &str) -> Server {
    let all = format!(
        "{listen}\nServerLimit {number}\nMaxRequestWorkers {number}\nStartServers {number}\nMinSpareServers 1\nMaxSpareServers {number}"
    );
    Server::apache_with("prefork", &all)
}

/// Asks for a page; how long it took.
fn asked(client: &mut Raw, path: &str, header: &str) -> Duration {
    let began = Instant::now();
    client.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n"));
    assert_eq!(client.response().status, 200, "{path}");
    began.elapsed()
}

/// Which processes have answered requests for paths that end so.
fn answered(server: &Server, end: &str, number: usize) -> HashSet<String> {
    let log = server.directory.path().join("requests.log");
    poll_until(PATIENCE, "the server to have written what it has answered", || {
        let text = fs::read_to_string(&log).ok()?;
        let processes =
            text.lines().filter(|line| line.ends_with(end)).filter_map(|line| line.split(' ').next());
        let processes: Vec<_> = processes.map(str::to_owned).collect();
        (processes.len() == number).then(|| processes.into_iter().collect())
    })
}

/// Apache with so many threads in one process, each for one connection at a time.
fn threads(number: u32) -> Server {
    let all = format!(
        "ServerLimit 1\nStartServers 1\nThreadsPerChild {number}\nMaxRequestWorkers {number}\nMinSpareThreads 1\nMaxSpareThreads {number}"
    );
    Server::apache_with("worker", &all)
}

/// Apache with so many connections at most, which wait for their next requests in one place.
fn events(number: u32) -> Server {
    events_that_listen(number, "")
}

fn events_that_listen(number: u32, listen: &str) -> Server {
    let all = format!(
        "{listen}\nServerLimit 1\nStartServers 1\nThreadsPerChild {number}\nMaxRequestWorkers {number}\nMinSpareThreads 1\nMaxSpareThreads {number}\nAsyncRequestWorkerFactor 1"
    );
    Server::apache_with("event", &all)
}

/// Many more connections than there is something to serve them are kept, and each is asked on in turn.
fn kept_connections_are_shared(server: &Server) {
    const CONNECTIONS: usize = 40;
    const ROUNDS: usize = 5;
    let site = Site::of(server);
    let gate = site.gate("window = 3");
    let running = site.start();
    let mut all: Vec<_> = (0..CONNECTIONS).map(|_| Raw::connect(server.address)).collect();
    let mut longest = Duration::ZERO;
    for _ in 0..ROUNDS {
        for client in &mut all {
            longest = longest.max(asked(client, Server::FAST, ""));
        }
    }
    // Without the gate the fourth would wait for half a minute.
    assert!(longest < Duration::from_secs(5), "{longest:?}");
    gate.has_dispatched((CONNECTIONS * ROUNDS) as f64);
    in_pieces(&mut all);
    drop(all);
    gate.is_empty();
    drop(running);
}

/// The head of a request in pieces of which the first is a single byte, and a body that comes late, while others ask.
fn in_pieces(all: &mut [Raw]) {
    let (client, others) = all.split_first_mut().unwrap();
    for pieces in [
        &["G", "ET /fast HTTP/1.1\r\nHost: loc", "alhost\r\n\r\n"][..],
        &["\r\n", "GET /fast HTTP/1.1\r\nHost: localhost\r\n\r\n"],
        &["POST /fast HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n", "he", "llo"],
    ] {
        // It has a process now.
        asked(client, Server::FAST, "");
        for piece in pieces {
            client.send(*piece);
            for other in &mut *others {
                other.get(Server::FAST);
                assert_eq!(other.response().status, 200);
            }
        }
        assert_eq!(client.response().status, 200, "{pieces:?}");
    }
}

#[test]
fn kept_connections_share_a_few_processes() {
    kept_connections_are_shared(&processes(3));
}

#[test]
fn kept_connections_share_a_few_threads() {
    kept_connections_are_shared(&threads(3));
}

#[test]
fn kept_connections_share_a_server_of_events() {
    kept_connections_are_shared(&events(3));
}

#[test]
fn requests_that_wait_hold_none_of_what_lighttpd_has() {
    requests_wait_with_the_gate(&Server::lighttpd_with("server.max-connections = 5"));
}

#[test]
fn kept_connections_share_what_lighttpd_has() {
    kept_connections_are_shared(&Server::lighttpd_with("server.max-connections = 5"));
}

/// Not under Apache either.
#[test]
fn gates_that_are_killed_under_few_connections_lose_nothing() {
    gates_are_killed(&Server::lighttpd_with("server.max-connections = 5"));
}

/// While new clients come for whom the server has no room, all whom it keeps ask at once. Not of Apache, which closes kept connections itself when as many ask
/// as it has threads.
fn all_ask_at_once(server: &Server) {
    let site = Site::of(server);
    let gate = site.gate("window = 3");
    let running = site.start();
    let mut all: Vec<_> = (0..5).map(|_| site.kept()).collect();
    for _ in 0..5 {
        all.extend((0..3).map(|_| Raw::connect(server.address)));
        let began = Instant::now();
        thread::scope(|scope| {
            for client in all.iter_mut().rev() {
                scope.spawn(|| asked(client, Server::FAST, ""));
            }
        });
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    }
    drop(all);
    gate.is_empty();
    drop(running);
}

#[test]
fn all_ask_what_lighttpd_has_at_once() {
    all_ask_at_once(&Server::lighttpd_with("server.max-connections = 5"));
}

#[test]
fn requests_that_wait_hold_no_process() {
    requests_wait_with_the_gate(&processes(3));
}

#[test]
fn requests_that_wait_hold_no_thread() {
    requests_wait_with_the_gate(&threads(3));
}

/// While requests wait for places, what is to serve them does not wait for them.
fn requests_wait_with_the_gate(server: &Server) {
    let site = Site::of(server);
    let gate = site.gate("window = 2");
    let running = site.start();
    let mut all: Vec<_> = (0..8).map(|_| site.kept()).collect();
    let mut premium = site.kept();
    let began = Instant::now();
    let (overtook, longest) = thread::scope(|scope| {
        let slow: Vec<_> =
            all.iter_mut().map(|client| scope.spawn(|| asked(client, Server::SLOW, ""))).collect();
        thread::sleep(Duration::from_millis(100));
        let first = asked(&mut premium, Server::SLOW, "X-Tier: premium\r\n");
        let longest = slow.into_iter().map(|one| one.join().unwrap()).max().unwrap();
        (first, longest)
    });
    let took = began.elapsed().as_secs_f64();
    // Nine, two at a time.
    assert!(took > 3.9 * Server::SLOW_FOR && took < 9.0 * Server::SLOW_FOR, "{took}");
    assert!(
        overtook.as_secs_f64() < 2.9 * Server::SLOW_FOR && overtook < longest,
        "{overtook:?} of {longest:?}"
    );
    gate.is_empty();
    drop(running);
}

/// A connection by which its client is authenticated stays with the process that knows that.
#[test]
fn authenticated_connections_stay_with_their_process() {
    let server = processes(3);
    let site = Site::of(&server);
    let gate = site.gate("window = 3");
    let running = site.start();
    let mut bound = site.kept();
    let mut others: Vec<_> = (0..12).map(|_| site.kept()).collect();
    const ROUNDS: usize = 6;
    for _ in 0..ROUNDS {
        asked(&mut bound, "/fast?bound", "Authorization: NTLM TlRMTVNTUAAB\r\n");
        for other in &mut others {
            asked(other, "/fast?other", "");
        }
    }
    assert_eq!(answered(&server, "?bound", ROUNDS).len(), 1);
    assert!(answered(&server, "?other", ROUNDS * others.len()).len() > 1);
    drop((bound, others));
    gate.is_empty();
    drop(running);
}

/// Requests that are sent before the answers to those before are answered one by one, while others ask.
#[test]
fn requests_that_are_sent_ahead_are_answered_in_order() {
    // More than Apache keeps back to send it with the next response.
    const LONG: usize = 100_000;
    let server = processes(2);
    fs::write(server.directory.path().join("www/long"), "x".repeat(LONG)).unwrap();
    let site = Site::of(&server);
    let gate = site.gate("window = 1");
    let running = site.start();
    let mut others: Vec<_> = (0..12).map(|_| site.kept()).collect();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for other in &mut others {
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    asked(other, Server::FAST, "");
                }
            });
        }
        let mut ahead = site.kept();
        for _ in 0..60 {
            let page =
                |path: &str, more: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n");
            let (first, second) = (page("/long", ""), page("/fast", "X-Fill: \r\n"));
            // So much Apache reads at a time: the third is in the socket when the second has been read.
            let fill = "x".repeat(8000 - first.len() - second.len());
            ahead.send(first + &page("/fast", &format!("X-Fill: {fill}\r\n")) + &page("/long?3", ""));
            let lengths = [(); 3].map(|()| {
                let response = ahead.response();
                assert_eq!(response.status, 200);
                response.body.len()
            });
            assert_eq!(lengths, [LONG, 5, LONG]);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    drop(others);
    gate.is_empty();
    drop(running);
}

/// What the server has said its last word on is not asked on again.
#[test]
fn connections_that_the_server_has_ended_are_at_their_end() {
    let server = processes(2);
    let site = Site::of(&server);
    let gate = site.gate("window = 1");
    let running = site.start();
    let mut others: Vec<_> = (0..8).map(|_| site.kept()).collect();
    for round in 0..10 {
        let mut last = Raw::connect(server.address);
        last.send("GET /fast?last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert_eq!(last.response().status, 200);
        // It may be gone already.
        let _ = last.stream().write_all(b"GET /fast?late HTTP/1.1\r\nHost: localhost\r\n\r\n");
        for other in &mut others {
            asked(other, &format!("/fast?round{round}"), "");
        }
    }
    drop(others);
    gate.is_empty();
    answered(&server, "?last", 10);
    assert_eq!(answered(&server, "?late", 0).len(), 0);
    drop(running);
}

/// Of two listeners connections of one take the places of those of the other.
#[test]
fn listeners_share_processes() {
    let second = free_address();
    listeners_share(&processes_that_listen(3, &format!("Listen {second}")), second);
}

#[test]
fn listeners_share_a_server_of_events() {
    let second = free_address();
    listeners_share(&events_that_listen(3, &format!("Listen {second}")), second);
}

fn listeners_share(server: &Server, second: SocketAddr) {
    let site = Site::of(server);
    let gate = site.gate("window = 1");
    let running = site.start();
    let mut all: Vec<_> = (0..9).map(|_| site.kept()).collect();
    for _ in 0..4 {
        let mut other = Raw::connect(second);
        assert!(asked(&mut other, Server::FAST, "") < Duration::from_secs(2));
        all.push(other);
        for client in &mut all {
            assert!(asked(client, Server::FAST, "") < Duration::from_secs(2));
        }
    }
    drop(all);
    gate.is_empty();
    drop(running);
}

/// Connections on which nothing is asked are no more in the way of others when the gate has ended than when it was there.
#[test]
fn what_a_gate_has_kept_is_not_in_the_way() {
    let server = processes(3);
    let site = Site::of(&server);
    let gate = site.gate("window = 1");
    let running = site.start();
    let mut all: Vec<_> = (0..40).map(|_| site.kept()).collect();
    // Those that have been asked on last have the processes.
    all.truncate(37);
    gate.is_empty();
    gate.kill();
    for client in &mut all[..4] {
        let mut anew = Raw::connect(server.address);
        let took = asked(&mut anew, Server::FAST, "Connection: close\r\n");
        assert!(took < Duration::from_secs(3), "{took:?}");
        let took = asked(client, Server::FAST, "Connection: close\r\n");
        assert!(took < Duration::from_secs(3), "{took:?}");
    }
    drop(running);
}

/// What the gate keeps for the server is the server's when the gate is gone.
#[test]
fn gates_that_are_killed_under_few_processes_lose_nothing() {
    gates_are_killed(&processes(8));
}

#[test]
fn gates_that_are_killed_under_few_threads_lose_nothing() {
    gates_are_killed(&threads(8));
}

/// An epoll instance within another is for so many only (`path_limits`, the kernel's fs/eventpoll.c).
#[test]
fn more_processes_than_may_wait_for_one_thing() {
    let server = processes(520);
    let site = Site::of(&server);
    let gate = site.gate("window = 1");
    let running = site.start();
    poll_until(PATIENCE, "all processes to run", || (running.children().len() == 520).then_some(()));
    in_order(&site, &gate);
    gate.kill();
    assert_eq!(site.once(Server::FAST, "").0, 200);
    let gate = site.gate("window = 1");
    attached_again(&site, &gate);
    let said = fs::read_to_string(server.directory.path().join("log")).unwrap();
    assert!(!said.contains("pollset"), "{said}");
    drop(running);
}
