//! A gate in a process of its own, in front of a server in this one, and a crowd of clients.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use testkit::{PATIENCE, Process, Raw, free_address, poll_until};

/// A directory with a configuration in it, and the server that it names.
pub(crate) struct Site {
    pub(crate) directory: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) server: origin::Server,
}

impl Site {
    /// Addresses that the configuration names, so that one gate can follow the other.
    pub(crate) fn new() -> Self {
        let mut options = origin::Options::new(origin::Mode::Workers);
        options.listen = "127.0.0.1:0".parse().unwrap();
        let server = origin::Server::start(&options).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let [address, admin] = own_addresses();
        Self { directory, address, admin, server }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes the configuration: the addresses, and `more` behind them.
    pub(crate) fn configure(&self, more: &str) -> &Self {
        self.configure_before(self.server.address(), more)
    }

    /// Writes the configuration of a gate before another server.
    pub(crate) fn configure_before(&self, upstream: impl std::fmt::Display, more: &str) -> &Self {
        self.write(&format!("upstream = '{upstream}'\n{more}"))
    }

    /// Writes the configuration with the server and `more` in an inline table.
    pub(crate) fn configure_upstream(&self, more: &str) -> &Self {
        self.write(&format!("upstream = {{ address = '{}', {more} }}", self.server.address()))
    }

    fn write(&self, more: &str) -> &Self {
        let (address, admin) = (self.address, self.admin);
        let text = format!("listen = '{address}'\nadmin = '{admin}'\n{more}\n");
        // At once: a gate that reads it meanwhile sees the old one or the new one.
        fs::write(self.path("new.toml"), text).unwrap();
        fs::rename(self.path("new.toml"), self.path("gate.toml")).unwrap();
        self
    }

    /// Writes a configuration with the same server and other addresses, which no process listens at.
    pub(crate) fn elsewhere(&self) -> &Self {
        let (address, admin, upstream) = (free_address(), free_address(), self.server.address());
        let text = format!("listen = '{address}'\nadmin = '{admin}'\nupstream = '{upstream}'\n");
        fs::write(self.path("gate.toml"), text).unwrap();
        self
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
        command.args(["gate", "--config"]).arg(self.path("gate.toml"));
        command
    }

    /// A gate that accepts.
    #[track_caller]
    pub(crate) fn start(&self) -> Process {
        let mut gate = Process::start(&mut self.command());
        assert_eq!(gate.wait_for_address("listening on "), self.address);
        gate.wait_for_line("admin on ");
        gate
    }

    /// The value of a metric without labels, or with those named in full.
    #[track_caller]
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let page = Raw::connect(self.admin).get("/metrics").response();
        let value = page.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("no {name} in {}", page.text())).parse().unwrap()
    }

    /// Sends SIGHUP and waits until it has been answered, with success or in vain.
    #[track_caller]
    pub(crate) fn reload(&self, gate: &Process) {
        let counts = || ["done", "refused"].map(|what| self.metric(&reloads(what))).iter().sum::<f64>();
        let before = counts();
        signal(gate, Signal::HUP);
        poll_until(PATIENCE, "the configuration to be read again", || (counts() > before).then_some(()));
    }
}

/// Addresses that no other process takes between two gates: of all those that lead to this machine, one
/// that only this site has, so that not even a client's own port can be in the way. The ports are not tried out: a
/// process that another test starts at that moment would hold them for a while.
fn own_addresses() -> [SocketAddr; 2] {
    static SITES: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let own = Ipv4Addr::new(127, high | 1, low, SITES.fetch_add(1, Ordering::Relaxed));
    [20_080, 20_081].map(|port| SocketAddr::from((own, port)))
}

pub(crate) fn reloads(result: &str) -> String {
    format!("headworks_gate_reloads_total{{result=\"{result}\"}}")
}

pub(crate) fn signal(gate: &Process, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(gate.id()).unwrap()).unwrap(), signal).unwrap();
}

/// Clients that ask without a pause worth the name, each for its own bytes, and panic when one
/// answer is not what it should be.
pub(crate) struct Crowd {
    stop: Arc<AtomicBool>,
    served: Arc<AtomicU64>,
    clients: Vec<JoinHandle<()>>,
}

impl Crowd {
    /// Half of them keep their connections, the others open one for every request.
    pub(crate) fn start(address: SocketAddr, clients: usize) -> Self {
        let (stop, served) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let clients = (0..clients).map(|number| {
            let (stop, served) = (Arc::clone(&stop), Arc::clone(&served));
            thread::spawn(move || client(address, number, &stop, &served))
        });
        Self { clients: clients.collect(), stop, served }
    }

    pub(crate) fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// Waits until so many more were served.
    #[track_caller]
    pub(crate) fn serve(&self, more: u64) {
        let enough = self.served() + more;
        poll_until(PATIENCE, "clients to be served", || {
            assert!(self.clients.iter().all(|client| !client.is_finished()), "a client was not served");
            (self.served() >= enough).then_some(())
        });
    }

    /// Ends it; panics if any request failed.
    #[track_caller]
    pub(crate) fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let failed = self.clients.into_iter().map(JoinHandle::join).filter(Result::is_err).count();
        assert_eq!(failed, 0, "clients that were not served");
        self.served.load(Ordering::Relaxed)
    }
}

fn client(address: SocketAddr, number: usize, stop: &AtomicBool, served: &AtomicU64) {
    const PAUSE: Duration = Duration::from_micros(500);
    let mut kept: Option<Raw> = None;
    let mut length = 1000 * number;
    while !stop.load(Ordering::Relaxed) {
        let mut connection = kept.take().unwrap_or_else(|| Raw::connect(address));
        let close = if number.is_multiple_of(2) { "" } else { "Connection: close\r\n" };
        length = length % 9000 + 1;
        let response =
            connection.send(format!("GET /bytes/{length} HTTP/1.1\r\nHost: test\r\n{close}\r\n")).response();
        assert_eq!((response.status, response.body.len()), (200, length), "{}", response.head);
        if response.header("connection") != Some("close") {
            kept = Some(connection);
        }
        served.fetch_add(1, Ordering::Relaxed);
        thread::sleep(PAUSE);
    }
}
