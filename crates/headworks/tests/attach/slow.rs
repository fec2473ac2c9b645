//! A gate that takes its time to answer, as one that has no processor.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{SocketAddrUnix, accept, bind, listen};
use rustix::process::Signal;
use testkit::{PATIENCE, poll_until};

use crate::hostile::socket;
use crate::properties::Site;
use crate::servers::Server;

/// Meanwhile the server accepts for itself, and does not wait for the gate again and again.
fn is_asked_once(server: &Server) {
    let site = Site::of(server);
    let listener = socket();
    bind(&listener, &SocketAddrUnix::new(site.socket()).unwrap()).unwrap();
    listen(&listener, 16).unwrap();
    fs::set_permissions(site.socket(), PermissionsExt::from_mode(0o666)).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    thread::spawn(move || {
        let mut kept = Vec::new();
        while let Ok(process) = accept(&listener) {
            counter.fetch_add(1, Ordering::Relaxed);
            kept.push(process);
        }
    });
    let running = site.start();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(4) {
        assert_eq!(site.once(Server::FAST, "").0, 200);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    drop(running);
}

/// When the gate answers the server is attached, also one that has nothing to do.
fn is_attached_late(server: &Server) {
    let site = Site::of(server);
    let gate = site.gate("window = 3");
    gate.signal(Signal::STOP);
    let running = site.start();
    assert_eq!(site.once(Server::FAST, "").0, 200);
    gate.signal(Signal::CONT);
    poll_until(PATIENCE, "the server to be attached", || {
        assert_eq!(site.once(Server::FAST, "").0, 200);
        (gate.metric("headworks_gate_dispatched_total") > 0.0).then_some(())
    });
    let before = gate.metric("headworks_gate_dispatched_total");
    (0..10).for_each(|_| assert_eq!(site.once(Server::FAST, "").0, 200));
    poll_until(PATIENCE, "all of them to be known", || {
        (gate.metric("headworks_gate_dispatched_total") >= before + 10.0).then_some(())
    });
    gate.is_empty();
    drop(running);
}

#[test]
fn nginx_asks_a_silent_gate_once() {
    is_asked_once(&Server::nginx(1, ""));
}

#[test]
fn a_server_that_waits_in_accept_asks_a_silent_gate_once() {
    is_asked_once(&Server::python());
}

#[test]
fn nginx_is_attached_late() {
    is_attached_late(&Server::nginx(1, ""));
}

#[test]
fn a_server_that_waits_in_accept_is_attached_late() {
    is_attached_late(&Server::python());
}
