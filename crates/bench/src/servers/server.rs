//! [`Server`]: a server's process, in a network of its own.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use testbed::{Cpus, Isolation, Process, Stop, account};

/// The processor that the server has to itself.
pub(crate) const SERVER_CPU: usize = 0;
/// The processor that the generator has to itself.
pub(crate) const GENERATOR_CPU: usize = 1;

/// A running server; ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: Process,
    port: u16,
    isolation: Isolation,
}

impl Server {
    /// Starts a server and waits until it listens on this port; what it has to say goes to the
    /// file `log`.
    pub(crate) fn start(
        command: Command,
        log: &Path,
        port: u16,
        isolation: Isolation,
    ) -> anyhow::Result<Self> {
        let mut process = Process::start("the server", command, log)?;
        process.wait_until_it_listens(port, &Stop::default())?;
        Ok(Self { process, port, isolation })
    }

    /// Starts another server in the network of this one, on a processor of its own.
    pub(crate) fn beside(&self, cpu: usize, words: &[&str], log: &Path, port: u16) -> anyhow::Result<Self> {
        let (program, arguments) = words.split_first().context("no program to start")?;
        let mut command = self.companion(cpu, program);
        command.args(arguments);
        Self::start(command, log, port, self.isolation)
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
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
    pub(crate) fn companion(&self, cpu: usize, program: &str) -> Command {
        self.isolation.join(self.id(), &Cpus::one(cpu), Path::new(program))
    }

    /// CPU time that its threads have used so far.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        Ok(account::cpu(self.id())?)
    }

    /// Time in user mode and in the kernel, in ticks: only their ratio is of use, and only over
    /// seconds.
    pub(crate) fn ticks(&self) -> anyhow::Result<[u64; 2]> {
        Ok(account::ticks(self.id())?)
    }

    /// Bytes of memory that are resident.
    pub(crate) fn resident(&self) -> anyhow::Result<u64> {
        Ok(account::resident(self.id())?)
    }

    /// Descriptors that are open.
    pub(crate) fn descriptors(&self) -> anyhow::Result<usize> {
        Ok(account::descriptors(self.id())?)
    }
}
