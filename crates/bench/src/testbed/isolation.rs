//! The network that a run happens in.
//!
//! A run with a connection per request leaves tens of thousands of connections in TIME_WAIT,
//! each of which holds a port for a minute (RFC 9293, 3.6.1); the next run would inherit them.
//! So each run gets a fresh network namespace: it begins without any, has all ports to itself,
//! and its settings vanish with the last of its processes, however that ended.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::process;

/// Runs in the server's shell before it becomes the server. 1024 is the first port that needs no
/// privilege; reuse of client ports in TIME_WAIT is what a machine that has to make many
/// connections is set to (ip-sysctl, `tcp_tw_reuse`).
const PREPARE: &str = "ip link set lo up && \
    echo 1024 65535 >/proc/sys/net/ipv4/ip_local_port_range && \
    echo 1 >/proc/sys/net/ipv4/tcp_tw_reuse && ";
/// Few beside the tens of thousands that a run leaves.
const FEW: u64 = 1_000;
/// The kernel keeps TIME_WAIT for 60 s.
const DRAIN: Duration = Duration::from_secs(75);

/// How runs are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// A network namespace for each run; `mapped` through a user namespace, without being root.
    Namespace { mapped: bool },
    /// The host's network as it is, with a wait for connections in TIME_WAIT before each run.
    Host,
}

impl Isolation {
    /// The best this user may have.
    pub(crate) fn find() -> Self {
        [false, true]
            .into_iter()
            .map(|mapped| Self::Namespace { mapped })
            .find(|isolation| {
                let mut probe = isolation.enter();
                probe.args(["sh", "-c", &format!("{PREPARE} :")]);
                matches!(process::run(&mut probe, Duration::from_secs(10)), Ok(ended) if ended.status.success())
            })
            .unwrap_or(Self::Host)
    }

    pub(crate) fn describe(self) -> &'static str {
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
    pub(crate) fn port(self, wanted: u16) -> anyhow::Result<u16> {
        match self {
            Self::Namespace { .. } => Ok(wanted),
            Self::Host => Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port()),
        }
    }

    /// A shell command that becomes the server, on a processor of its own and ended with us.
    pub(super) fn serve(self, cpu: &str, server: &[&str]) -> Command {
        let prepare = if self == Self::Host { "" } else { PREPARE };
        let mut command = self.enter();
        command
            .args(["sh", "-c", &format!(r#"{prepare}exec "$@""#), "sh"])
            .args(["setpriv", "--pdeathsig", "TERM", "taskset", "-c", cpu])
            .args(server);
        command
    }

    /// A program beside the server with this process id, on a processor of its own.
    pub(super) fn join(self, server: u32, cpu: &str, program: &str) -> Command {
        let pin = ["setpriv", "--pdeathsig", "KILL", "taskset", "-c", cpu, program];
        let Self::Namespace { mapped } = self else {
            let mut command = Command::new(pin[0]);
            command.args(&pin[1..]);
            return command;
        };
        let mut command = Command::new("nsenter");
        command.args(["--target", &server.to_string(), "--net"]);
        if mapped {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.args(pin);
        command
    }

    /// Whether the server is root inside of its namespace.
    pub(crate) fn as_root(self) -> bool {
        self == Self::Namespace { mapped: true } || rustix::process::getuid().is_root()
    }

    /// Waits until those before have left the host's tables. Not for ever: on the host the server
    /// has another port in each run, so the ports themselves are free.
    pub(super) fn drain(self) -> anyhow::Result<()> {
        if self != Self::Host {
            return Ok(());
        }
        let deadline = Instant::now() + DRAIN;
        let mut told = false;
        loop {
            let text = fs::read_to_string("/proc/net/sockstat").context("/proc/net/sockstat")?;
            let waiting = in_time_wait(&text).context("cannot understand /proc/net/sockstat")?;
            if waiting <= FEW {
                return Ok(());
            }
            if Instant::now() > deadline {
                eprintln!("going on with {waiting} connections in TIME_WAIT; others make them");
                return Ok(());
            }
            if !std::mem::replace(&mut told, true) {
                eprintln!("waiting for {waiting} connections in TIME_WAIT to pass");
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

fn in_time_wait(sockstat: &str) -> Option<u64> {
    let mut words = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"))?.split_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_wait_is_read_from_sockstat() {
        let text = "sockets: used 3\nTCP: inuse 2 orphan 1 tw 32173 alloc 4 mem 0\nUDP: inuse 0 mem 0\n";
        assert_eq!(in_time_wait(text), Some(32_173));
        assert_eq!(in_time_wait("UDP: inuse 0 mem 0\n"), None);
    }
}
