//! The adaptive window in front of a server with workers, as one with processes has.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use common::Gate;
use testkit::{Raw, poll_until};

const WORKERS: usize = 8;

/// Clients that ask for the next page as soon as they have one.
struct Clients {
    done: Arc<AtomicU64>,
    millis: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Clients {
    fn start(gate: &Gate, number: usize) -> Self {
        let (done, millis, over): (Arc<AtomicU64>, Arc<AtomicU64>, Arc<AtomicBool>) = Default::default();
        let threads = (0..number).map(|_| {
            let (address, done, millis, over) = (gate.address, done.clone(), millis.clone(), over.clone());
            thread::spawn(move || {
                let mut client = Raw::connect(address);
                while !over.load(Ordering::Relaxed) {
                    let page = format!("/delay?before={}ms", millis.load(Ordering::Relaxed));
                    assert_eq!(client.get(&page).response().status, 200);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        let threads = threads.collect();
        Self { done, millis, over, threads }
    }

    /// Goes on with pages of that cost until something holds of the window.
    fn wait_until(&self, gate: &Gate, millis: u64, what: &str, mut holds: impl FnMut(u64) -> bool) {
        self.millis.store(millis, Ordering::Relaxed);
        let window = || gate.state()["window"].as_u64().unwrap();
        poll_until(Duration::from_secs(60), what, || holds(window()).then_some(()));
    }

    /// Goes on until so many pages of that cost have been served; gives the smallest window seen.
    fn serve(&self, gate: &Gate, millis: u64, pages: u64) -> u64 {
        let until = self.done.load(Ordering::Relaxed) + pages;
        let mut smallest = u64::MAX;
        self.wait_until(gate, millis, &format!("{pages} pages of {millis} ms"), |window| {
            smallest = smallest.min(window);
            self.done.load(Ordering::Relaxed) >= until
        });
        smallest
    }

    fn end(self) {
        self.over.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

#[test]
fn the_window_does_not_collapse_when_pages_become_expensive_and_cheap_again() {
    let origin = common::origin_with(WORKERS);
    let gate = Gate::start(origin.address(), "window = { initial = 2 }");
    let clients = Clients::start(&gate, 4 * WORKERS);
    clients.wait_until(&gate, 3, "the window to be found", |window| window >= WORKERS as u64 / 2);
    for (millis, pages) in [(60, 250), (3, 800), (60, 250), (3, 800)] {
        let smallest = clients.serve(&gate, millis, pages);
        assert!(smallest >= WORKERS as u64 / 4, "{smallest} when pages took {millis} ms");
    }
    clients.end();
}

#[test]
fn a_connection_without_an_answer_is_made_way_for() {
    let origin = common::origin_with(2);
    let gate = Gate::start(origin.address(), "window = 2");
    let clients = Clients::start(&gate, 8);
    // Both workers are taken by connections that are never idle, and premium has a place of its own.
    clients.serve(&gate, 3, 50);
    let before = clients.done.load(Ordering::Relaxed);
    let mut premium = Raw::connect(gate.address);
    premium.send("GET /bytes/5 HTTP/1.1\r\nHost: localhost\r\nCookie: tier=premium\r\n\r\n");
    assert_eq!(premium.response().status, 200);
    let meanwhile = clients.done.load(Ordering::Relaxed) - before;
    assert!(meanwhile < 60, "{meanwhile} others were served meanwhile");
    clients.end();
}
