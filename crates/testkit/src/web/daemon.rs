//! [`Daemon`]: a server of many processes in a directory of its own.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

use super::log::LogLine;
use crate::poll::{PATIENCE, poll_until};

/// Files of a daemon's directory.
const ACCESS_LOG: &str = "access.log";
const PID_FILE: &str = "server.pid";
const SAID: &str = "said";

/// A running server; it and all its processes are killed when it is dropped.
#[derive(Debug)]
pub(super) struct Daemon {
    child: Child,
    root: TempDir,
}

/// A directory that other users can enter: a server that root starts may serve as one of them.
pub(super) fn root() -> TempDir {
    tempfile::Builder::new()
        .prefix("testkit-")
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir()
        .expect("a directory for the server")
}

/// Writes a file of the server's directory.
pub(super) fn write(root: &TempDir, name: &str, text: &str) {
    fs::write(root.path().join(name), text).expect("the server's directory takes files");
}

impl Daemon {
    /// Starts `command`, which keeps its files in `root`; `None` when its address was taken.
    ///
    /// Both servers write their pid file after they have begun to listen, so that waiting for it
    /// leaves no connection in what they count.
    #[track_caller]
    pub(super) fn start(command: &mut Command, root: TempDir) -> Option<Self> {
        let said = File::create(root.path().join(SAID)).expect("the server's directory takes files");
        let child = command
            .stdin(Stdio::null())
            .stdout(said.try_clone().expect("a second descriptor"))
            .stderr(said)
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let mut daemon = Self { child, root };
        let pid = daemon.pid().to_string();
        poll_until(PATIENCE, "the server to listen", || {
            let file = daemon.root.path().join(PID_FILE);
            if fs::read_to_string(file).is_ok_and(|text| text.trim() == pid) {
                return Some(true);
            }
            let status = daemon.child.try_wait().expect("a child of ours")?;
            let said = daemon.said();
            assert!(said.contains("ddress already in use"), "{command:?} ended with {status}: {said}");
            Some(false)
        })
        .then_some(daemon)
    }

    /// The process that started the others.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The server's own directory.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Asks for an end after the requests under way, waits for it, and gives the access log.
    #[track_caller]
    pub(super) fn stop(mut self, graceful: Signal) -> Vec<LogLine> {
        kill_process(Pid::from_child(&self.child), graceful).expect("the server runs and is ours");
        poll_until(PATIENCE, "the server to end", || self.child.try_wait().expect("a child of ours"));
        let log = fs::read_to_string(self.root.path().join(ACCESS_LOG)).expect("a log of text");
        LogLine::read(&log)
    }

    /// Holds every worker for `span` by SIGSTOP, as a machine that swaps or a long collection of
    /// garbage does. The kernel still completes handshakes meanwhile.
    pub(super) fn stop_for(&self, span: Duration) {
        let workers = children(self.pid());
        assert!(!workers.is_empty(), "a server without workers; it said: {}", self.said());
        let all = |signal| {
            for worker in &workers {
                kill_process(*worker, signal).expect("the worker runs and is ours");
            }
        };
        all(Signal::STOP);
        thread::sleep(span);
        all(Signal::CONT);
    }

    fn said(&self) -> String {
        fs::read_to_string(self.root.path().join(SAID)).unwrap_or_default()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Fails only when all of them have already ended, which is the aim.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
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
