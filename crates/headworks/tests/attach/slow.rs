//! A gate that takes its time to answer, as one that has no processor.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use testkit::{PATIENCE, poll_until};

use crate::properties::Site;
use crate::servers::Server;

/// Meanwhile the server accepts for itself, and does not wait for the gate again and again; when the gate answers the server is attached.
fn is_done_without(server: &Server) {
    let site = Site::of(server);
    let gate = site.gate("window = 3");
    gate.signal(Signal::STOP);
    let running = site.start();
    // The first that is accepted has waited for the gate.
    assert_eq!(site.once(Server::FAST, "").0, 200);
    let slow = (0..20).filter(|_| {
        thread::sleep(Duration::from_millis(150));
        let (status, took) = site.once(Server::FAST, "");
        assert_eq!(status, 200);
        took > 0.5
    });
    assert_eq!(slow.count(), 0, "requests that were held up");
    gate.signal(Signal::CONT);
    poll_until(PATIENCE, "the server to be attached", || {
        assert_eq!(site.once(Server::FAST, "").0, 200);
        (gate.metric("headworks_gate_dispatched_total") > 0.0).then_some(())
    });
    let before = gate.metric("headworks_gate_dispatched_total");
    (0..10).for_each(|_| assert_eq!(site.once(Server::FAST, "").0, 200));
    assert!(gate.metric("headworks_gate_dispatched_total") >= before + 10.0, "all of them");
    gate.is_empty();
    drop(running);
}

#[test]
fn nginx_does_without() {
    is_done_without(&Server::nginx(1, ""));
}

#[test]
fn a_server_that_waits_in_accept_does_without() {
    is_done_without(&Server::python());
}
