//! [`Daemon`]: a server of many processes in a directory of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use testbed::{Server, Setup, Software, Stop, retried};

use super::log::LogLine;
use crate::poll::{PATIENCE, poll_until};

/// Files of a daemon's directory.
const ACCESS_LOG: &str = "access.log";
const PID_FILE: &str = "server.pid";
const SAID: &str = "said";

/// A running server; it and all its processes are killed when it is dropped.
#[derive(Debug)]
pub(super) struct Daemon(Server);

/// What one attempt to start a server is set up with.
pub(super) struct Attempt {
    pub(super) configuration: String,
    /// Further files of its directory.
    pub(super) files: BTreeMap<String, String>,
}

impl Daemon {
    /// Starts a server; `attempt` is given its directory, and gives besides what the caller needs to know. Once more
    /// when another program took its port first.
    ///
    /// Both servers write their pid file after they have begun to listen, so that waiting for it
    /// leaves no connection in what they count.
    ///
    /// `None`, with the reason on standard error, when the server is not installed; a panic then where
    /// the environment says `CI`.
    #[track_caller]
    pub(super) fn start<T>(software: Software, attempt: impl Fn(&Path) -> (Attempt, T)) -> Option<(Self, T)> {
        let program = match software.find(software.package()) {
            Ok(program) => program,
            Err(error) => {
                crate::skip(&error);
                return None;
            }
        };
        let once = || {
            let root = testbed::directory()?;
            let (Attempt { configuration, mut files }, known) = attempt(root.path());
            let file = root.path().join("server.conf");
            files.insert("server.conf".to_owned(), configuration);
            let setup = Setup {
                name: software.name(),
                program: program.clone(),
                arguments: software.arguments(root.path(), &file),
                files,
                version: String::new(),
            };
            Ok((Self::ready(&setup, root)?, known))
        };
        let started = retried(once, testbed::Error::is_address_taken);
        Some(started.unwrap_or_else(|error| panic!("{error}")))
    }

    fn ready(setup: &Setup, root: TempDir) -> Result<Self, testbed::Error> {
        setup.write(root.path())?;
        let (said, pid_file) = (root.path().join(SAID), root.path().join(PID_FILE));
        let mut command = Command::new(&setup.program);
        command.args(&setup.arguments);
        let mut server = Server::start(setup.name, command, &said, Some(root))?.patient(PATIENCE);
        server.process().wait_until_ready("does not listen", &Stop::default(), |process| {
            let text = fs::read_to_string(&pid_file).ok()?;
            (text.trim() == process.id().to_string()).then_some(())
        })?;
        Ok(Self(server))
    }

    /// The process that started the others.
    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// The server's own directory.
    pub(super) fn root(&self) -> &Path {
        self.0.root().expect("a server with a directory")
    }

    /// Asks for an end after the requests under way, waits for it, and gives the access log.
    #[track_caller]
    pub(super) fn stop(mut self, graceful: Signal) -> Vec<LogLine> {
        self.0.process().stop(graceful, PATIENCE).expect("a server that ends when it is asked to");
        let log = fs::read_to_string(self.root().join(ACCESS_LOG)).expect("a log of text");
        LogLine::read(&log)
    }

    /// Holds every worker for `span` by SIGSTOP, as a machine that swaps or a long collection of
    /// garbage does. The kernel still completes handshakes meanwhile.
    pub(super) fn stop_for(&self, span: Duration) {
        // It answers, by the kernel, before it has any.
        let workers = poll_until(PATIENCE, "the server's workers", || {
            Some(children(self.pid())).filter(|workers| !workers.is_empty())
        });
        let all = |signal| {
            for worker in &workers {
                kill_process(*worker, signal).expect("the worker runs and is ours");
            }
        };
        all(Signal::STOP);
        thread::sleep(span);
        all(Signal::CONT);
    }
}

/// The processes whose parent is `parent`.
fn children(parent: u32) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").expect("a mounted /proc").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|&id: &i32| parent_of(id) == Some(parent)).filter_map(Pid::from_raw).collect()
}

/// `None` when the process has just ended.
fn parent_of(id: i32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The program's name, in parentheses, may itself contain spaces and parentheses; proc(5).
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(1)?.parse().ok()
}
