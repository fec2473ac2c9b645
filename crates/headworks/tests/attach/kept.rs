//! Kept connections of servers with a process for each: those on which nothing is asked do not hold the processes that others wait for.

use std::collections::HashSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use testkit::{PATIENCE, Raw, poll_until};

use crate::endings::{gates_are_killed, in_order};
use crate::properties::{Site, all_slow};
use crate::servers::Server;

/// Apache with so many processes, each for one connection at a time, which it would keep for half a minute.
fn processes(number: u32) -> Server {
    let all = format!(
        "ServerLimit {number}\nMaxRequestWorkers {number}\nStartServers {number}\nMinSpareServers 1\nMaxSpareServers {number}"
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

/// Many more connections than there is something to serve them are kept, and each is asked on in turn.
fn kept_connections_are_shared(server: &Server) {
    const CONNECTIONS: usize = 40;
    const ROUNDS: usize = 5;
    let site = Site::of(server);
    let gate = site.gate("window = 1");
    let running = site.start();
    let mut all: Vec<_> = (0..CONNECTIONS).map(|_| Raw::connect(server.address)).collect();
    let mut longest = Duration::ZERO;
    for _ in 0..ROUNDS {
        for client in &mut all {
            longest = longest.max(asked(client, Server::FAST, ""));
        }
    }
    // Without the gate the fourth would wait for half a minute.
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    gate.has_dispatched((CONNECTIONS * ROUNDS) as f64);
    // The body of a request that comes late, and a request in pieces.
    let client = &mut all[0];
    client.send("POST /fast HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n");
    thread::sleep(Duration::from_millis(100));
    client.send("hello");
    assert_eq!(client.response().status, 200);
    drop(all);
    in_order(&site, &gate);
    drop(running);
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
    poll_until(PATIENCE, "all processes to be attached again", || {
        (all_slow(&site) > 2.9 * Server::SLOW_FOR).then_some(())
    });
    in_order(&site, &gate);
    let said = fs::read_to_string(server.directory.path().join("log")).unwrap();
    assert!(!said.contains("pollset"), "{said}");
    drop(running);
}
