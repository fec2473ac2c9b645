//! What holds of each server: no request is inside without a place, and none is lost with the gate.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use testkit::{PATIENCE, Process, Raw, poll_until};

use crate::servers::{Running, Server};

/// A gate that servers are attached to.
pub(crate) struct Gate {
    process: Process,
    admin: SocketAddr,
}

impl Gate {
    fn start(file: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
        let mut process = Process::start(command.args(["gate", "--config"]).arg(file));
        let admin = process.wait_for_address("admin on ");
        Self { process, admin }
    }

    pub(crate) fn metric(&self, name: &str) -> f64 {
        let response = Raw::connect(self.admin).get("/metrics").response();
        let of_metric =
            |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
        let values = response.text().lines().filter(of_metric);
        values.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }

    /// Waits until no request is inside.
    pub(crate) fn is_empty(&self) {
        poll_until(PATIENCE, "nobody to be in the server", || {
            (self.metric("headworks_gate_in_service") == 0.0).then_some(())
        });
    }

    /// Waits until so many requests have been dispatched, and are over: no more.
    #[track_caller]
    pub(crate) fn has_dispatched(&self, number: f64) {
        let dispatched = || self.metric("headworks_gate_dispatched_total");
        poll_until(PATIENCE, "the gate to know of all", || (dispatched() >= number).then_some(()));
        self.is_empty();
        assert_eq!(dispatched(), number);
    }

    pub(crate) fn end(mut self) {
        self.process.terminate();
        self.process.wait();
    }

    pub(crate) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.process.wait();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.process.id().cast_signed()).unwrap(), signal).unwrap();
    }
}

pub(crate) struct Site<'a> {
    pub(crate) server: &'a Server,
    file: PathBuf,
    library: PathBuf,
}

impl<'a> Site<'a> {
    pub(crate) fn of(server: &'a Server) -> Self {
        let library = server.directory.path().join("shim.so");
        let mut write = Command::new(env!("CARGO_BIN_EXE_headworks"));
        assert!(write.args(["attach", "--library"]).arg(&library).status().unwrap().success());
        Self { server, file: server.directory.path().join("gate.toml"), library }
    }

    /// Starts the server.
    pub(crate) fn start(&self) -> Running {
        self.server.start(&self.library, &self.socket())
    }

    /// Has a program attach itself.
    pub(crate) fn attach(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("HEADWORKS_ATTACH", self.socket());
    }

    pub(crate) fn gate(&self, more: &str) -> Gate {
        let socket = self.socket();
        let text = format!(
            "attach = true\nattach-socket = '{}'\n{more}\n[[class]]\nname = 'premium'\n[[class]]\nname = 'basic'\n\
            [[rule]]\nclass = 'premium'\nheader = 'X-Tier: premium'\n",
            socket.display()
        );
        fs::write(&self.file, text).unwrap();
        Gate::start(&self.file)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.server.directory.path().join("attach.sock")
    }

    /// One request on a connection of its own: its status, and how long it took in seconds.
    pub(crate) fn once(&self, path: &str, header: &str) -> (u16, f64) {
        let began = Instant::now();
        let mut client = Raw::connect(self.server.address);
        client.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}Connection: close\r\n\r\n"));
        (client.response().status, began.elapsed().as_secs_f64())
    }

    pub(crate) fn kept(&self) -> Raw {
        let mut client = Raw::connect(self.server.address);
        assert_eq!(client.get(Server::FAST).response().status, 200);
        client
    }
}

/// So long something takes at least that waits for one that takes long.
pub(crate) const WAITED: f64 = 0.6 * Server::SLOW_FOR;

/// All of it.
pub(crate) fn hold(server: &Server) {
    let site = Site::of(server);
    let gate = site.gate("window = 1");
    let running = site.start();
    requests_are_counted(&site, &gate);
    the_window_holds(&site);
    premium_overtakes(&site);
    a_session_is_told_once(&site);
    if server.keeps {
        a_kept_connection_waits_as_well(&site, &gate);
        a_client_that_leaves_is_forgotten(&site, &gate);
    }
    no_request_is_lost_with_the_gate(&site, gate);
    assert_eq!(site.once(Server::FAST, "").0, 200, "without a gate");
    attached_again(&site);
    assert_eq!(site.once(Server::FAST, "").0, 200, "after the gate has ended");
    drop(running);
}

fn requests_are_counted(site: &Site<'_>, gate: &Gate) {
    gate.is_empty();
    let before = gate.metric("headworks_gate_dispatched_total");
    assert_eq!([(); 3].map(|()| site.once(Server::FAST, "").0), [200; 3]);
    if !site.server.keeps {
        gate.has_dispatched(before + 3.0);
        return;
    }
    let mut kept = site.kept();
    assert_eq!([(); 4].map(|()| kept.get(Server::FAST).response().status), [200; 4]);
    // A head in pieces, the first of them too short for the method.
    kept.send("GE");
    thread::sleep(Duration::from_millis(50));
    kept.send(format!("T {} HTTP/1.1\r\nHost: localhost\r\n", Server::FAST));
    thread::sleep(Duration::from_millis(50));
    kept.send(format!("X-Fill: {}\r\n\r\n", "a".repeat(6000)));
    assert_eq!(kept.response().status, 200);
    // Three alone, and six on a connection.
    gate.has_dispatched(before + 9.0);
}

/// What three slow ones take at least, one after the other, of the time of one.
pub(crate) const LONGEST: f64 = 2.9;

pub(crate) fn the_window_holds(site: &Site<'_>) {
    let took = all_slow(site);
    assert!(took > LONGEST * Server::SLOW_FOR, "three one after the other took {took:.2} s");
}

/// How long three slow ones take that are asked for at once, in seconds.
pub(crate) fn all_slow(site: &Site<'_>) -> f64 {
    let began = Instant::now();
    thread::scope(|scope| {
        let all = [(); 3].map(|()| scope.spawn(|| site.once(Server::SLOW, "").0));
        assert_eq!(all.map(|one| one.join().unwrap()), [200; 3]);
    });
    began.elapsed().as_secs_f64()
}

fn premium_overtakes(site: &Site<'_>) {
    let order = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (name, header) in [("1", ""), ("2", ""), ("3", ""), ("premium", "X-Tier: premium\r\n")] {
            let order = &order;
            scope.spawn(move || {
                assert_eq!(site.once(Server::SLOW, header).0, 200);
                order.lock().unwrap().push(name);
            });
            thread::sleep(Duration::from_millis(60));
        }
    });
    assert_eq!(order.lock().unwrap()[..2], ["1", "premium"]);
}

fn a_kept_connection_waits_as_well(site: &Site<'_>, gate: &Gate) {
    let (mut slow, mut waiting) = (site.kept(), site.kept());
    gate.is_empty();
    slow.get(Server::SLOW);
    thread::sleep(Duration::from_millis(60));
    let began = Instant::now();
    assert_eq!(waiting.get(Server::FAST).response().status, 200);
    let took = began.elapsed().as_secs_f64();
    assert!(took > WAITED, "it waited for {took:.2} s");
    assert_eq!(slow.response().status, 200);
    assert_eq!(waiting.get(Server::FAST).response().status, 200);
}

fn a_client_that_leaves_is_forgotten(site: &Site<'_>, gate: &Gate) {
    let (mut slow, mut leaving) = (site.kept(), site.kept());
    gate.is_empty();
    slow.get(Server::SLOW);
    thread::sleep(Duration::from_millis(60));
    leaving.get(Server::FAST);
    thread::sleep(Duration::from_millis(60));
    drop(leaving);
    assert_eq!(slow.response().status, 200);
    gate.is_empty();
    let (status, took) = site.once(Server::FAST, "");
    assert!(status == 200 && took < WAITED, "{status} after {took:.2} s");
}

fn a_session_is_told_once(site: &Site<'_>) {
    let mut client = Raw::connect(site.server.address);
    let first = client.get(Server::FAST).response();
    assert!(first.head.starts_with("HTTP/1.1 200"), "{}", first.head);
    assert_eq!(first.head.matches("Set-Cookie: headworks=").count(), 1, "{}", first.head);
    if !site.server.keeps {
        return;
    }
    let second = client.get(Server::FAST).response();
    assert!(!second.head.contains("Set-Cookie: headworks="), "{}", second.head);
}

fn no_request_is_lost_with_the_gate(site: &Site<'_>, gate: Gate) {
    gate.is_empty();
    let first = |path: &str| {
        let mut client = Raw::connect(site.server.address);
        client.get(path);
        client
    };
    let mut clients = Vec::new();
    if site.server.keeps {
        let (mut slow, mut waiting) = (site.kept(), site.kept());
        gate.is_empty();
        slow.get(Server::SLOW);
        thread::sleep(Duration::from_millis(60));
        waiting.get(Server::FAST);
        clients.extend([slow, waiting]);
    } else {
        clients.push(first(Server::SLOW));
        thread::sleep(Duration::from_millis(60));
    }
    // They wait in the gate, on connections that no process of the server has.
    clients.extend([(); 5].map(|()| first(Server::FAST)));
    thread::sleep(Duration::from_millis(60));
    gate.kill();
    let statuses: Vec<u16> = clients.iter_mut().map(|client| client.response().status).collect();
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
}

fn attached_again(site: &Site<'_>) {
    let mut gate = site.gate("window = 1\n[limits]\nclass-queues = 1");
    let is_attached = || {
        let before = gate.metric("headworks_gate_dispatched_total");
        assert_eq!(site.once(Server::FAST, "").0, 200);
        (gate.metric("headworks_gate_dispatched_total") > before).then_some(())
    };
    poll_until(PATIENCE, "the server to be attached again", is_attached);
    gate.process.terminate();
}
