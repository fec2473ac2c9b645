//! Thousands of connections on one thread: all are opened, all are served, memory stays bounded.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use record::{RequestRow, RunDirectory, Summary};
use rustix::process::{Resource, getrlimit};
use testkit::{Nginx, Process, follow_memory};

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

const CLIENTS: u64 = 10_000;

/// What a client and its connection may cost.
const MAX_BYTES_PER_CONNECTION: u64 = 8 * 1024;

/// What a run may take that has hardly any connections: libraries, receive buffers, the record.
const MAX_BYTES_BESIDES: u64 = 64 << 20;

/// The server, where a process may have as many descriptors as the test needs.
fn server(content: &Path) -> Option<Nginx> {
    if let Some(most) = getrlimit(Resource::Nofile).maximum.filter(|most| *most < CLIENTS + 100) {
        testkit::skip_here(&format!(
            "{CLIENTS} connections need more than {most} descriptors; raise `ulimit -Hn`"
        ));
        return None;
    }
    std::fs::write(content.join("index.html"), "hello").unwrap();
    Nginx::start(content, "keepalive_requests 1000000; keepalive_timeout 60s;")
}

struct Ran {
    summary: Summary,
    rows: Vec<RequestRow>,
    /// The most memory that it has had.
    bytes: u64,
}

/// A run against `url`, while `meanwhile` happens.
fn run(url: &str, arguments: &[&str], meanwhile: impl FnOnce()) -> Ran {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("run");
    let command = ["load", url, "--quiet", "--json", "--out", out.to_str().unwrap()];
    let mut process = Process::start(Command::new(HEADWORKS).args(command).args(arguments));
    let pid = process.id();
    let memory = thread::spawn(move || follow_memory(pid));
    meanwhile();
    let text = process.wait_for_line("{");
    process.wait();
    let bytes = memory.join().unwrap();
    let rows = RunDirectory::open(&out).unwrap().requests().unwrap().map(Result::unwrap).collect();
    Ran { summary: serde_json::from_str(&format!("{{{text}")).unwrap(), rows, bytes }
}

impl Ran {
    /// Everybody was served, and every answer is in the server's log.
    #[track_caller]
    fn is_complete(&self, server: Nginx) {
        let Summary { requests, responses, errors, censored, connections, .. } = &self.summary;
        eprintln!("{requests} requests, {connections:?}, {} MiB", self.bytes >> 20);
        assert_eq!((*responses, errors.total(), *censored), (*requests, 0, 0), "{errors:?}");
        assert!(self.bytes > 1 << 20, "{} bytes", self.bytes);
        let bound = MAX_BYTES_BESIDES + connections.opened * MAX_BYTES_PER_CONNECTION;
        assert!(self.bytes < bound, "{} bytes for {} connections", self.bytes, connections.opened);
        let answered = self.rows.iter().filter(|row| row.error.is_none()).count();
        let logged = server.stop().len();
        // What the end of the run cut off may have been answered or not.
        assert!((answered..=self.rows.len()).contains(&logged), "{logged} logged, {answered} answered");
    }
}

#[test]
fn ten_thousand_clients_are_all_served() {
    let content = tempfile::tempdir().unwrap();
    let Some(server) = server(content.path()) else { return };
    let clients = CLIENTS.to_string();
    let ran = run(server.url(), &["-c", &clients, "--think", "3s", "--duration", "4s"], || {});
    let served: BTreeSet<u64> =
        ran.rows.iter().filter(|row| row.error.is_none()).map(|row| row.connection).collect();
    assert_eq!(served.len() as u64, CLIENTS);
    assert_eq!(ran.summary.connections.opened, CLIENTS);
    assert_eq!(ran.summary.connections.reused, ran.summary.requests - CLIENTS);
    ran.is_complete(server);
}

#[test]
fn thousands_of_requests_wait_for_a_server_that_stands_still() {
    let content = tempfile::tempdir().unwrap();
    let Some(server) = server(content.path()) else { return };
    let ran =
        run(server.url(), &["--rate", "2000", "--arrivals", "constant", "--duration", "3500ms"], || {
            thread::sleep(Duration::from_millis(500));
            server.stop_for(Duration::from_millis(2500));
        });
    assert_eq!(ran.summary.requests, 7000);
    assert!(ran.summary.connections.opened > 4000, "{:?}", ran.summary.connections);
    ran.is_complete(server);
}
