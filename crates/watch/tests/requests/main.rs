//! Requests that are followed, beside what is known of them from elsewhere.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test reports")]

mod counts;
mod encrypted;
mod identity;
mod kept;
mod known;
mod leftovers;
mod servers;
mod sockets;
mod windows;

use std::time::{Duration, Instant};

use rustix::process::geteuid;
use watch::requests::{Budget, Classes, Finished, Following, Requests};
use watch::{Addresses, Whose};

/// Whether programs may be loaded.
fn is_able() -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        testkit::skip(&"only root may load programs");
    }
    is_root
}

/// Follows all requests of a port while something goes on.
struct Followed {
    requests: Requests,
    told: Vec<Finished>,
}

impl Followed {
    fn begin(port: u16) -> Self {
        Self::within(port, Budget::Unlimited)
    }

    fn within(port: u16, budget: Budget) -> Self {
        let following = Following {
            at: Addresses::at_port(port),
            classes: Classes::default(),
            budget,
            counts_all: false,
            seed: 1,
            whose: Whose::default(),
        };
        let mut followed = Self { requests: Requests::open(following).unwrap(), told: Vec::new() };
        followed.turn();
        followed
    }

    fn turn(&mut self) {
        let told = &mut self.told;
        self.requests.turn(|request| told.push(*request)).unwrap();
    }

    /// Goes on until the thread has ended, and gives what was told.
    fn until<T>(mut self, thread: std::thread::JoinHandle<T>) -> (Vec<Finished>, T) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !thread.is_finished() {
            assert!(Instant::now() < deadline, "the requests do not end");
            std::thread::sleep(Duration::from_millis(5));
            self.turn();
        }
        let result = thread.join().unwrap();
        // A client may have all of a response before the server's thread has come back from sending it.
        std::thread::sleep(Duration::from_millis(200));
        self.turn();
        let told = &mut self.told;
        self.requests.end(|request| told.push(*request)).unwrap();
        (self.told, result)
    }
}
