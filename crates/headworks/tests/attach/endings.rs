//! Servers that reload, and processes of theirs that are killed, while they are asked.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, kill_process, kill_process_group};
use testkit::{PATIENCE, poll_until};

use crate::properties::{LONGEST, Site, WAITED, all_slow, the_window_holds};
use crate::servers::{Running, Server};

/// Asks for a page on a connection of its own; whether it was given.
pub(crate) fn ask(server: &Server, path: &str, patience: Duration) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(server.address)?;
    stream.set_read_timeout(Some(patience))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    Ok(response.starts_with(b"HTTP/1.1 200"))
}

/// Asks for pages on four connections at a time while something is done; gives how many were answered, and how many not.
fn asked_while(server: &Server, done: impl FnOnce()) -> (u32, u32) {
    let (is_over, answered, lost) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let (began, asked) = (std::time::Instant::now(), ask(server, Server::FAST, PATIENCE));
                    if !matches!(asked, Ok(true)) {
                        eprintln!("lost after {:?}: {asked:?}", began.elapsed());
                    }
                    let counted = if asked.unwrap_or(false) { &answered } else { &lost };
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let _over = Over(&is_over);
        done();
    });
    (answered.into_inner(), lost.into_inner())
}

/// Says that it is over, whatever becomes of what is done.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Asks again and again on two connections that are kept; gives how many requests were answered, and how many not.
fn kept_while(server: &Server, is_over: &AtomicBool) -> (u32, u32) {
    let (mut answered, mut lost) = (0, 0);
    let mut stream: Option<TcpStream> = None;
    while !is_over.load(Ordering::Relaxed) {
        let is_kept = stream.is_some();
        let mut ask = || {
            let kept = match stream.take() {
                Some(kept) => kept,
                None => TcpStream::connect(server.address)?,
            };
            kept.set_read_timeout(Some(PATIENCE))?;
            (&kept).write_all(b"GET /fast HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
            let (mut response, mut piece) = (Vec::new(), [0; 4096]);
            while !response.ends_with(b"fast\n") && !response.ends_with(b"done\n") {
                match (&kept).read(&mut piece)? {
                    0 => return Err(std::io::Error::other(format!("closed after {} bytes", response.len()))),
                    length => response.extend_from_slice(&piece[..length]),
                }
            }
            let is_last = String::from_utf8_lossy(&response).to_lowercase().contains("connection: close");
            stream = (!is_last).then_some(kept);
            if !response.starts_with(b"HTTP/1.1 200") {
                return Err(std::io::Error::other(String::from_utf8_lossy(&response).into_owned()));
            }
            std::io::Result::Ok(())
        };
        match ask() {
            Ok(()) => answered += 1,
            Err(why) => {
                let on = if is_kept { "a kept connection" } else { "a new connection" };
                eprintln!("lost on {on}, after {answered} requests: {why}");
                lost += 1;
            }
        }
    }
    (answered, lost)
}

/// How often processes are killed: as many times as the environment's `KILLS` says, for who has more time than a test.
fn kills(default: u32) -> u32 {
    std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Pauses of 0 to 150 ms, the same each time.
fn pause(state: &mut u64) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    thread::sleep(Duration::from_micros(*state % 150_000));
}

pub(crate) fn gates_are_killed(server: &Server) {
    let site = Site::of(server);
    let running = site.start();
    let is_over = AtomicBool::new(false);
    let (alone, kept) = thread::scope(|scope| {
        let kept = [(); 2].map(|()| scope.spawn(|| kept_while(server, &is_over)));
        let over = Over(&is_over);
        let alone = asked_while(server, || {
            let mut state = 1;
            for round in 0..kills(15) {
                let gate = site.gate("window = 1");
                pause(&mut state);
                // One that is told to end leaves what waits in it to the server as well.
                if round % 3 == 2 {
                    gate.end()
                } else {
                    gate.kill()
                }
                pause(&mut state);
            }
        });
        drop(over);
        (alone, kept.map(|kept| kept.join().unwrap()))
    });
    assert!(alone.0 > 100 && alone.1 == 0, "of their own: {} answered, {} lost", alone.0, alone.1);
    assert!(
        kept.iter().all(|(answered, lost)| *answered > 50 && *lost == 0),
        "kept: {kept:?} answered and lost"
    );
    let gate = site.gate("window = 1");
    attached_again(&site, &gate);
    drop(running);
}

#[test]
fn gates_that_are_killed_under_nginx_lose_nothing() {
    gates_are_killed(&Server::nginx(2, ""));
}

#[test]
fn gates_that_are_killed_under_apache_lose_nothing() {
    gates_are_killed(&Server::apache("event"));
}

#[test]
fn gates_that_are_killed_under_threads_lose_nothing() {
    gates_are_killed(&Server::gunicorn("gthread"));
}

/// Waits until all requests go through the gate, and sees that all is in order then: a process that has just looked for a gate in vain looks again within a second.
pub(crate) fn attached_again(site: &Site<'_>, gate: &crate::properties::Gate) {
    poll_until(PATIENCE, "the server to be attached again", || {
        (all_slow(site) > LONGEST * Server::SLOW_FOR).then_some(())
    });
    in_order(site, gate);
}

pub(crate) fn in_order(site: &Site<'_>, gate: &crate::properties::Gate) {
    gate.is_empty();
    the_window_holds(site);
    gate.is_empty();
    let (status, took) = site.once(Server::FAST, "");
    assert!(status == 200 && took < WAITED, "{status} after {took:.2} s");
}

fn reloads(server: &Server, reload: impl Fn(&Running)) {
    let site = Site::of(server);
    let gate = site.gate("window = 1");
    let running = site.start();
    assert_eq!(site.once(Server::FAST, "").0, 200);
    let (answered, lost) = asked_while(server, || {
        for _ in 0..10 {
            reload(&running);
            thread::sleep(Duration::from_millis(300));
        }
    });
    assert!(answered > 100 && lost == 0, "{answered} answered, {lost} lost");
    in_order(&site, &gate);
}

#[test]
fn reloads_of_nginx_lose_nothing() {
    reloads(&Server::nginx(2, ""), |running| kill_process(running.pid(), Signal::HUP).unwrap());
}

#[test]
fn reloads_of_apache_lose_nothing() {
    reloads(&Server::apache("event"), |running| kill_process(running.pid(), Signal::USR1).unwrap());
}

#[test]
fn processes_that_are_killed_leave_no_place_taken() {
    for server in [Server::nginx(2, ""), Server::apache("prefork")] {
        let site = Site::of(&server);
        let gate = site.gate("window = 1");
        let running = site.start();
        assert_eq!(site.once(Server::FAST, "").0, 200);
        let (answered, lost) = asked_while(&server, || {
            for round in 0..kills(20) as usize {
                let children = running.children();
                let child = children.get(round % children.len().max(1));
                child.iter().for_each(|child| kill_process(**child, Signal::KILL).unwrap());
                thread::sleep(Duration::from_millis(137));
            }
        });
        assert!(answered > 100 && lost <= 4 * kills(20), "{answered} answered, {lost} lost");
        in_order(&site, &gate);
    }
}

/// Waits until nothing listens at the server's address: neither its processes, nor the gate for them.
fn has_closed(server: &Server) {
    poll_until(PATIENCE, "the server's port to be closed", || {
        TcpStream::connect(server.address)
            .is_err_and(|why| why.kind() == ErrorKind::ConnectionRefused)
            .then_some(())
    });
}

#[test]
fn masters_that_are_killed_leave_the_next_server_in_order() {
    for server in [Server::nginx(2, ""), Server::apache("event"), Server::apache("prefork")] {
        let site = Site::of(&server);
        let gate = site.gate("window = 1");
        let mut state = 1;
        for round in 0..kills(6) {
            let running = site.start();
            assert_eq!(site.once(Server::FAST, "").0, 200);
            // Workers whose master is gone serve on; a worker that goes is replaced, in the middle of which all are killed.
            let children = running.children();
            let first = if round % 2 == 0 { Some(running.pid()) } else { children.first().copied() };
            let (answered, lost) = asked_while(&server, || {
                pause(&mut state);
                first.into_iter().for_each(|process| kill_process(process, Signal::KILL).unwrap());
                pause(&mut state);
                // The others go on.
                thread::sleep(Duration::from_millis(300));
            });
            let may_be_lost = if round % 2 == 0 { 0 } else { 4 };
            assert!(answered > 20 && lost <= may_be_lost, "{answered} answered, {lost} lost");
            // It was started as the first of a group.
            kill_process_group(running.pid(), Signal::KILL).unwrap();
            drop(running);
            has_closed(&server);
            gate.is_empty();
        }
        let running = site.start();
        attached_again(&site, &gate);
        drop(running);
    }
}
