//! [`Isolation`]: the network that a run happens in.
//!
//! A run with a connection per request leaves tens of thousands of connections in TIME_WAIT,
//! each of which holds a port for a minute (RFC 9293, 3.6.1); the next run would inherit them.
//! So each run gets a fresh network namespace: it begins without any, has all ports to itself,
//! and its settings vanish with the last of its processes, however that ended.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cpus::Cpus;
use crate::error::Error;
use crate::pinning::Pinning;
use crate::port::free_port;
use crate::run::run;
use crate::time_wait::in_time_wait;

/// Runs in the server's shell before it becomes the server. 1024 is the first port that needs no
/// privilege; reuse of client ports in TIME_WAIT is what a machine that has to make many
/// connections is set to (ip-sysctl, `tcp_tw_reuse`).
const PREPARE: &str = "ip link set lo up && \
    echo 1024 65535 >/proc/sys/net/ipv4/ip_local_port_range && \
    echo 1 >/proc/sys/net/ipv4/tcp_tw_reuse && ";
/// Few beside the tens of thousands that a run leaves.
const MAX_LEFT: u64 = 1_000;
/// The kernel keeps TIME_WAIT for 60 s.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(75);

/// How runs are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// A network namespace for each run; through a user namespace without being root.
    Namespace {
        /// Whether through a user namespace.
        mapped: bool,
    },
    /// The host's network as it is, with a wait for connections in TIME_WAIT before each run.
    Host,
}

impl Isolation {
    /// The best this user may have.
    pub fn find() -> Self {
        [false, true]
            .into_iter()
            .map(|mapped| Self::Namespace { mapped })
            .find(|isolation| {
                let mut probe = isolation.enter();
                probe.args(["sh", "-c", &format!("{PREPARE} :")]);
                run(&mut probe, Duration::from_secs(10)).is_ok_and(|ended| ended.status.success())
            })
            .unwrap_or(Self::Host)
    }

    /// How runs are kept apart, in a sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Namespace { .. } => {
                "Each run has a fresh network namespace (`ip_local_port_range` 1024 to 65535, `tcp_tw_reuse` 1), so no TIME_WAIT is inherited."
            }
            Self::Host => {
                "Runs used the host's own network with its settings (namespaces were refused), each after a wait for connections in TIME_WAIT to pass."
            }
        }
    }

    /// A port for a server: a namespace has all of them to itself.
    ///
    /// # Errors
    /// When no port is free.
    pub fn port(self, wanted: u16) -> Result<u16, Error> {
        match self {
            Self::Namespace { .. } => Ok(wanted),
            Self::Host => free_port(),
        }
    }

    /// A command that runs a server in a network of its own, on a processor of its own.
    pub fn serve(self, cpus: &Cpus, server: &Path) -> Command {
        let prepare = if self == Self::Host { "" } else { PREPARE };
        let mut command = self.enter();
        command.args(["sh", "-c", &format!(r#"{prepare}exec "$@""#), "sh"]);
        command.args(Pinning::strict().words(cpus)).arg(server);
        command
    }

    /// A command that runs a program in the network of the server with this process id, on a processor
    /// of its own.
    pub fn join(self, server: u32, cpus: &Cpus, program: &Path) -> Command {
        let Self::Namespace { mapped } = self else { return Pinning::strict().command(cpus, program) };
        let mut command = Command::new("nsenter");
        command.args(["--target", &server.to_string(), "--net"]);
        if mapped {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.args(Pinning::strict().words(cpus)).arg(program);
        command
    }

    /// Whether the server is root inside of its namespace.
    pub fn as_root(self) -> bool {
        self == Self::Namespace { mapped: true } || rustix::process::getuid().is_root()
    }

    /// Waits until connections of earlier runs have left the host's tables, and tells of it. Not for ever:
    /// on the host the server has another port in each run, so the ports themselves are free.
    pub fn drain(self, tell: impl Fn(&str)) {
        if self != Self::Host {
            return;
        }
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        let mut told = false;
        loop {
            let waiting = in_time_wait();
            if waiting <= MAX_LEFT {
                return;
            }
            if Instant::now() > deadline {
                tell(&format!("going on with {waiting} connections in TIME_WAIT; other programs make them"));
                return;
            }
            if !std::mem::replace(&mut told, true) {
                tell(&format!("waiting for {waiting} connections in TIME_WAIT to pass"));
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    fn enter(self) -> Command {
        match self {
            Self::Namespace { mapped } => {
                let mut command = Command::new("unshare");
                command.arg("--net");
                if mapped {
                    command.arg("--map-root-user");
                }
                command
            }
            Self::Host => Command::new("env"),
        }
    }
}
