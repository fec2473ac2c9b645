//! [`Server`]: a server's process, in a network of its own.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::{GENERATOR_CPU, Isolation};
use crate::process;

const START: Duration = Duration::from_secs(10);
const END: Duration = Duration::from_secs(5);

/// A running server; ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    port: u16,
    isolation: Isolation,
}

impl Server {
    /// Starts a server and waits until it listens on this port; what it has to say goes to the
    /// file `complaints`.
    pub(super) fn start(
        mut command: Command,
        complaints: &Path,
        port: u16,
        isolation: Isolation,
    ) -> anyhow::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(complaints)?);
        // Apache ends its whole process group when it is told to end.
        command.process_group(0);
        let child = command.spawn().with_context(|| format!("cannot start {}", process::show(&command)))?;
        let server = Self { child, port, isolation };
        server.wait_until_it_listens().with_context(|| {
            format!("it said: {}", fs::read_to_string(complaints).unwrap_or_default().trim())
        })?;
        Ok(server)
    }

    /// Starts another server in the network of this one, on a processor of its own.
    pub(crate) fn beside(
        &self,
        cpu: &str,
        words: &[&str],
        complaints: &Path,
        port: u16,
    ) -> anyhow::Result<Self> {
        let (program, arguments) = words.split_first().context("no program to start")?;
        let mut command = self.isolation.join(self.child.id(), cpu, program);
        command.args(arguments);
        Self::start(command, complaints, port, self.isolation)
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The port that it was waited for on.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Where the file of this size is.
    pub(crate) fn url(&self, size: usize) -> String {
        format!("http://127.0.0.1:{}/{size}", self.port)
    }

    /// A program that can reach this server, on the generator's processor.
    pub(crate) fn client(&self, program: &str) -> Command {
        self.companion(GENERATOR_CPU, program)
    }

    /// A program in the network of this server, on this processor.
    pub(crate) fn companion(&self, cpu: &str, program: &str) -> Command {
        self.isolation.join(self.child.id(), cpu, program)
    }

    /// CPU time that its threads have used so far.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        process::cpu(self.child.id())
    }

    /// Time in user mode and in the kernel, in ticks: only their ratio is of use, and only over
    /// seconds.
    pub(crate) fn ticks(&self) -> anyhow::Result<[u64; 2]> {
        let file = format!("/proc/{}/stat", self.child.id());
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;
        ticks(&text).with_context(|| format!("cannot understand {file}"))
    }

    /// Bytes of memory that are resident.
    pub(crate) fn resident(&self) -> anyhow::Result<u64> {
        let file = format!("/proc/{}/status", self.child.id());
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;
        resident(&text).with_context(|| format!("cannot understand {file}"))
    }

    /// Descriptors that are open.
    pub(crate) fn descriptors(&self) -> anyhow::Result<usize> {
        process::descriptors(self.child.id())
    }

    // Nobody outside can connect into a namespace; its table of sockets can be read.
    fn wait_until_it_listens(&self) -> anyhow::Result<()> {
        let table = format!("/proc/{}/net/tcp", self.child.id());
        let deadline = Instant::now() + START;
        loop {
            if fs::read_to_string(&table).is_ok_and(|table| listens(&table, self.port)) {
                return Ok(());
            }
            if process::ends_within(&self.child, Duration::from_millis(10))? {
                bail!("the server ended before it listened");
            }
            if Instant::now() > deadline {
                bail!("the server does not listen after {} s", START.as_secs());
            }
        }
    }
}

impl Drop for Server {
    // Nothing can be done about an error here, and the system ends the server with us.
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        if !matches!(process::ends_within(&self.child, END), Ok(true)) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// State 0A is LISTEN (`include/net/tcp_states.h`).
fn listens(table: &str, port: u16) -> bool {
    let address = format!("0100007F:{port:04X}");
    table.lines().any(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        words.get(1) == Some(&address.as_str()) && words.get(3) == Some(&"0A")
    })
}

// proc_pid_stat(5): utime and stime are the 14th and 15th field; the second, a name in
// parentheses, may have spaces.
fn ticks(stat: &str) -> Option<[u64; 2]> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse().ok();
    Some([next()?, next()?])
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listening_socket_is_told_from_a_connection() {
        let listening =
            "  sl  local_address rem_address   st\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n";
        assert!(listens(listening, 8080));
        assert!(!listens(listening, 8081));
        assert!(!listens(&listening.replace(" 0A ", " 01 "), 8080));
    }

    #[test]
    fn time_and_memory_are_read_from_the_kernels_tables() {
        let stat = "42 (a b) c) S 1 42 42 0 -1 4194560 1 2 3 4 137 2914 5 6 20 0 1 0 9 9 9";
        assert_eq!(ticks(stat), Some([137, 2914]));
        assert_eq!(ticks("42 (a"), None);
        assert_eq!(resident("Name:\tx\nVmRSS:\t    2048 kB\nRssAnon:\t 1 kB\n"), Some(2 << 20));
        assert_eq!(resident("Name:\tx\n"), None);
    }
}
