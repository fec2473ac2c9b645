//! Clients that are slow on purpose: premium ones are served as if there were none.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod common;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use common::{Gate, Held, echo, origin, request};
use testkit::{PATIENCE, Raw, poll_until};

const PREMIUM: &str = "Cookie: tier=premium\r\n";

/// slowhttptest with 4,000 connections for some seconds; killed when dropped.
struct Attack(Child);

impl Attack {
    /// `None`, with the reason on standard error, when it is not installed; a panic then where the
    /// environment says `CI`.
    fn start(mode: &[&str], url: &str) -> Option<Self> {
        let common = ["-c", "4000", "-r", "2000", "-l", "6", "-p", "30", "-v", "0", "-u", url];
        let mut command = Command::new("slowhttptest");
        command.args(mode).args(common).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(child) => Some(Self(child)),
            Err(why) => {
                let reason = format!("slowhttptest: {why}; install it with: apt-get install slowhttptest");
                testkit::skip(&reason);
                None
            }
        }
    }

    fn goes_on(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        // Fails only when it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn four_thousand_slow_connections_leave_premium_untouched() {
    let origin = origin();
    for (mode, path, slow) in [
        (&["-H", "-i", "1"][..], "/bytes/10", 1000),
        (&["-B", "-i", "1", "-s", "100000"], "/bytes/10", 1000),
        // More than the gate takes off the server, so that each holds a place there.
        (&["-X", "-w", "10", "-y", "20", "-n", "1", "-z", "5"], "/bytes/30000000", 100),
    ] {
        let gate = Gate::start(origin.address(), "");
        let url = format!("http://{}{path}", gate.address);
        let Some(mut attack) = Attack::start(mode, &url) else { return };
        gate.wait_for("the attack to be felt", |state| state["connections"]["clients"].as_u64() > Some(slow));
        let mut kept = gate.connect();
        let mut served = 0;
        while attack.goes_on() {
            // No request is refused, and none waits for longer than a client does.
            let response = gate.get("/bytes/1000", PREMIUM);
            assert_eq!((response.status, response.body.len()), (200, 1000), "{mode:?}, request {served}");
            let response = kept.send(request("/bytes/2000", PREMIUM)).response();
            assert_eq!((response.status, response.body.len()), (200, 2000), "{mode:?}, request {served}");
            served += 2;
        }
        assert!(served >= 4, "{mode:?}: {served}");
    }
}

/// A client that opens connections, several hundred of them, sends the same over each, and begins
/// anew with the oldest, until it is told to stop.
struct Flood {
    opened: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Flood {
    fn start(address: SocketAddr, words: &'static [u8]) -> Self {
        let (opened, stop) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (count, stopped) = (Arc::clone(&opened), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let mut open = VecDeque::new();
            while !stopped.load(Ordering::Acquire) {
                let mut client = Raw::connect(address);
                client.send(words);
                open.push_back(client);
                if open.len() > 400 {
                    open.pop_front();
                }
                count.fetch_add(1, Ordering::Release);
            }
        });
        Self { opened, stop, thread }
    }

    /// Waits until it has opened so many connections.
    fn wait_for(&self, connections: usize) {
        poll_until(PATIENCE, "the flood", || {
            (self.opened.load(Ordering::Acquire) >= connections).then_some(())
        });
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Release);
        self.thread.join().unwrap();
    }
}

#[test]
fn one_address_cannot_take_all_connections() {
    let server = echo("");
    for words in [
        &b""[..],
        b"GET / HTTP/1.1\r\nHo",
        b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\nhalf",
        b"POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
        // HTTP/2: empty settings, and the head of a POST whose body does not come.
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\
          \0\0\x06\x01\x04\0\0\0\x01\x83\x86\x84\x41\x01t",
    ] {
        let gate = Gate::start(server.address(), "backlog = 512\n[limits]\nconnections = 100\n");
        let flood = Flood::start(gate.address, words);
        // Four times what the gate holds.
        flood.wait_for(400);
        for number in 0..20 {
            let mut other = Raw::connect_from([127, 0, 0, 2].into(), gate.address);
            let status = other.get("/").response().status;
            assert_eq!(status, 200, "request {number} beside {}", words.escape_ascii());
        }
        flood.stop();
    }
}

#[test]
fn places_in_the_server_are_taken_from_who_does_nothing_with_them() {
    let origin = origin();
    // Nothing moves for much longer than the test waits; but others do.
    let gate =
        Gate::start(origin.address(), "window = 2\ndifferentiation = 0\n[client]\nstall-timeout = '10m'\n");
    let mut slow: Vec<_> = (0..2).map(|_| gate.connect()).collect();
    for client in &mut slow {
        client.get("/bytes/100000000");
    }
    gate.wait_for("both places to be taken", |state| state["in_service"] == 2);
    assert_eq!(gate.get("/bytes/1", "").status, 200);
}

#[test]
fn a_slow_client_s_place_is_given_up_with_it() {
    let server = Held::start();
    let gate = Gate::start(server.address(), "[client]\nheader-timeout = '100ms'\n");
    let mut slow = gate.connect();
    let mut answers = 0;
    // Byte by byte, each well before any timeout for silence.
    for byte in "GET /never HTTP/1.1\r\nX-Slow: ".bytes().chain(std::iter::repeat_n(b'x', 10_000)) {
        slow.send([byte]);
        let state = gate.state();
        answers += 1;
        if state["connections"]["clients"] == 0 {
            break;
        }
    }
    let told = String::from_utf8(slow.until_closed()).unwrap();
    assert!(told.starts_with("HTTP/1.1 408"), "{told:?} after {answers} bytes");
    assert_eq!(server.waiting(), 0);
    poll_until(PATIENCE, "the connection to be gone", || {
        (gate.state()["connections"]["clients"] == 0).then_some(())
    });
}
