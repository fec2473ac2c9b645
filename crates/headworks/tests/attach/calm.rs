//! While there are places for all, the server accepts connections itself, and nothing is different for its clients.

use std::thread;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use testkit::{PATIENCE, Raw, poll_until};

use crate::classes::{asked, cookie};
use crate::properties::{Gate, Site, all_slow};
use crate::servers::Server;

const BY_SERVER: &str = "headworks_gate_attached_connections_total{by=\"server\"}";
const BY_GATE: &str = "headworks_gate_attached_connections_total{by=\"gate\"}";

/// Waits until the server accepts connections itself.
fn begins(site: &Site<'_>, gate: &Gate) {
    let before = gate.metric(BY_SERVER);
    poll_until(PATIENCE, "the server to accept connections itself", || {
        // There have to be places now and then.
        gate.is_empty();
        thread::sleep(Duration::from_millis(120));
        assert_eq!(site.once(Server::FAST, "").0, 200);
        thread::sleep(Duration::from_millis(20));
        (gate.metric(BY_SERVER) > before).then_some(())
    });
    gate.is_empty();
}

/// Does something on a connection, again until it is one that the server accepts itself: that takes only those whose first request is
/// there already.
#[track_caller]
fn accepts<T>(site: &Site<'_>, gate: &Gate, act: impl Fn() -> T) -> T {
    poll_until(PATIENCE, "the server to accept itself", || {
        begins(site, gate);
        let before = gate.metric(BY_SERVER);
        let done = act();
        gate.is_empty();
        thread::sleep(Duration::from_millis(50));
        (gate.metric(BY_SERVER) > before).then_some(done)
    })
}

/// Whether what is done is one connection that the gate has to do with.
#[track_caller]
fn asks(gate: &Gate, act: impl FnOnce()) {
    let before = gate.metric(BY_GATE);
    act();
    poll_until(PATIENCE, "the gate to be asked", || (gate.metric(BY_GATE) > before).then_some(()));
    assert_eq!(gate.metric(BY_GATE), before + 1.0);
}

fn sessions_go_on(site: &Site<'_>, gate: &Gate) {
    let get = |token: Option<&str>| cookie(&asked(site.server, Server::FAST, token));
    let first = accepts(site, gate, || get(None)).unwrap();
    assert_eq!(accepts(site, gate, || get(Some(&first))), None);
    let sealed_elsewhere = format!("AQ{}", "A".repeat(62));
    for other in ["nonsense", &sealed_elsewhere] {
        asks(gate, || assert!(get(Some(other)).is_some()));
    }
}

/// A session that began with a page that makes it premium is told so when it comes again.
fn classes_are_told(site: &Site<'_>, gate: &Gate) {
    let get = |path: &str, token: Option<&str>| cookie(&asked(site.server, path, token));
    let first = accepts(site, gate, || get(Server::SLOW, None)).unwrap();
    let mut second = String::new();
    asks(gate, || second = get(Server::FAST, Some(&first)).unwrap());
    assert_ne!(first, second);
    let premium = || gate.metric("headworks_gate_dispatched_total{class=\"premium\"}");
    let before = premium();
    assert_eq!(get(Server::FAST, Some(&second)), None);
    poll_until(PATIENCE, "the request to be premium", || (premium() > before).then_some(()));
}

/// A head that comes in pieces does not keep the server's threads.
fn what_is_not_whole_waits_in_the_gate(server: &Server, gate: &Gate) {
    asks(gate, || {
        let mut client = Raw::connect(server.address);
        client.send(format!("GET {} HTTP/1.1\r\n", Server::FAST));
        thread::sleep(Duration::from_millis(50));
        client.send("Host: localhost\r\n\r\n");
        assert_eq!(client.response().status, 200);
    });
}

fn of_the_server(server: &Server) {
    let site = Site::of(server);
    let gate = site.gate("window = 3\n[[rule]]\nclass = 'premium'\npath = '/slow'\n");
    let running = site.start();
    sessions_go_on(&site, &gate);
    what_is_not_whole_waits_in_the_gate(server, &gate);
    classes_are_told(&site, &gate);
    gate.is_empty();
    drop(running);
}

#[test]
fn nginx_accepts_itself() {
    of_the_server(&Server::nginx(2, ""));
}

#[test]
fn apache_accepts_itself() {
    of_the_server(&Server::apache("event"));
}

#[test]
fn node_accepts_itself() {
    of_the_server(&Server::node("node"));
}

#[test]
fn the_window_holds_whoever_accepts() {
    let server = Server::nginx(2, "");
    let site = Site::of(&server);
    let gate = site.gate("window = 1");
    let running = site.start();
    begins(&site, &gate);
    let took = all_slow(&site);
    assert!(took > 2.9 * Server::SLOW_FOR, "three one after the other took {took:.2} s");
    // The places are free again, and it goes on.
    begins(&site, &gate);
    drop(running);
}

#[test]
fn connections_that_no_process_accepts_go_to_the_gate() {
    let server = Server::nginx(1, "");
    let site = Site::of(&server);
    let gate = site.gate("window = 3");
    let running = site.start();
    begins(&site, &gate);
    let [worker] = running.children()[..] else { panic!("one worker") };
    kill_process(worker, Signal::STOP).unwrap();
    let before = gate.metric(BY_GATE);
    let mut client = Raw::connect(server.address);
    client.get(Server::FAST);
    poll_until(PATIENCE, "the gate to accept it", || (gate.metric(BY_GATE) > before).then_some(()));
    kill_process(worker, Signal::CONT).unwrap();
    assert_eq!(client.response().status, 200);
    drop(running);
}

/// With a listener for each worker, of which one is stopped: its connections go to the other, which is busy with its own.
#[test]
fn a_listener_whose_process_is_stopped_is_seen_beside_others() {
    let server = Server::nginx_that_listens(2, "", "reuseport");
    let site = Site::of(&server);
    let gate = site.gate("window = 3");
    let running = site.start();
    begins(&site, &gate);
    let [worker, _] = running.children()[..] else { panic!("two workers") };
    kill_process(worker, Signal::STOP).unwrap();
    let statuses = [(); 12].map(|()| site.once(Server::FAST, "").0);
    kill_process(worker, Signal::CONT).unwrap();
    assert_eq!(statuses, [200; 12]);
    drop(running);
}

#[test]
fn the_server_goes_on_while_the_gate_is_stopped() {
    let server = Server::nginx(1, "");
    let site = Site::of(&server);
    let gate = site.gate("window = 3");
    let running = site.start();
    begins(&site, &gate);
    let before = gate.metric(BY_SERVER);
    gate.signal(Signal::STOP);
    let statuses = [(); 150].map(|()| site.once(Server::FAST, "").0);
    gate.signal(Signal::CONT);
    assert_eq!(statuses, [200; 150]);
    poll_until(PATIENCE, "the gate to learn of them", || {
        (gate.metric(BY_SERVER) >= before + 150.0).then_some(())
    });
    // And on, when all that was prepared is used.
    gate.signal(Signal::STOP);
    let waiting = thread::scope(|scope| {
        let asking = scope.spawn(|| [(); 400].map(|()| site.once(Server::FAST, "").0));
        thread::sleep(Duration::from_millis(500));
        gate.signal(Signal::CONT);
        asking.join().unwrap()
    });
    assert_eq!(waiting, [200; 400]);
    gate.is_empty();
    drop(running);
}

/// Heads that are not whole go to the gate, which is killed before it has received them.
#[test]
fn connections_that_were_passed_on_outlive_the_gate() {
    let server = Server::nginx(1, "");
    let site = Site::of(&server);
    let gate = site.gate("window = 3");
    let running = site.start();
    begins(&site, &gate);
    gate.signal(Signal::STOP);
    let mut clients = [(); 5].map(|()| {
        let mut client = Raw::connect(server.address);
        client.send(format!("GET {} HTTP/1.1\r\n", Server::FAST));
        client
    });
    thread::sleep(Duration::from_millis(200));
    gate.kill();
    for client in &mut clients {
        client.send("Host: localhost\r\nConnection: close\r\n\r\n");
        assert_eq!(client.response().status, 200);
    }
    drop(running);
}

#[test]
fn a_gate_that_only_looks_on_accepts_all() {
    let server = Server::nginx(1, "");
    let site = Site::of(&server);
    let gate = site.gate("mode = 'shadow'\nwindow = 3");
    let running = site.start();
    for _ in 0..20 {
        assert_eq!(site.once(Server::FAST, "").0, 200);
        thread::sleep(Duration::from_millis(20));
    }
    poll_until(PATIENCE, "the gate to have accepted them", || (gate.metric(BY_GATE) >= 10.0).then_some(()));
    assert_eq!(gate.metric(BY_SERVER), 0.0);
    drop(running);
}
