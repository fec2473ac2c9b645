//! Servers that reload, and processes of theirs that are killed, while they are asked.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use testkit::PATIENCE;

use crate::properties::{Site, WAITED, the_window_holds};
use crate::servers::{Running, Server};

/// Asks for pages on four connections at a time while something is done; gives how many were answered, and how many not.
fn asked_while(server: &Server, done: impl FnOnce()) -> (u32, u32) {
    let (is_over, answered, lost) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    let ask = || {
        let mut stream = TcpStream::connect(server.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"GET /fast HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response)?;
        std::io::Result::Ok(response.starts_with(b"HTTP/1.1 200"))
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let counted = if ask().unwrap_or(false) { &answered } else { &lost };
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        done();
        is_over.store(true, Ordering::Relaxed);
    });
    (answered.into_inner(), lost.into_inner())
}

fn in_order(site: &Site<'_>, gate: &crate::properties::Gate) {
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
            for round in 0..20 {
                let children = running.children();
                let child = children.get(round % children.len().max(1));
                child.iter().for_each(|child| kill_process(**child, Signal::KILL).unwrap());
                thread::sleep(Duration::from_millis(137));
            }
        });
        assert!(answered > 100 && lost <= 4 * 20, "{answered} answered, {lost} lost");
        in_order(&site, &gate);
    }
}
