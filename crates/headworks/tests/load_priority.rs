//! Whose work can wait: the threads of `headworks load` where they are given a real-time priority.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::process::{Command, Stdio};

use testkit::{PATIENCE, Process, poll_until};

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");
const FIFO: [&str; 2] = ["--fifo", "1"];

/// Names and scheduling policies of a process's threads: fields 2 and 41 of their `stat`
/// (proc_pid_stat(5)).
fn threads(process: u32) -> Vec<(String, u32)> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().map(Result::unwrap);
    tasks
        .filter_map(|task| {
            let stat = fs::read_to_string(task.path().join("stat")).ok()?;
            let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
            Some((name.to_owned(), rest.split_whitespace().nth(38)?.parse().ok()?))
        })
        .collect()
}

#[test]
fn only_threads_that_keep_time_go_before_others() {
    let allowed =
        Command::new("chrt").args(FIFO).arg("true").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !allowed.is_ok_and(|status| status.success()) {
        testkit::skip_here(&"this user may not run anything with a real-time priority (chrt --fifo 1)");
        return;
    }
    let mut server = Process::start(Command::new(HEADWORKS).args(["origin", "--listen", "127.0.0.1:0"]));
    let address = server.wait_for_address("listening on ");
    let scratch = tempfile::tempdir().unwrap();
    let url = format!("http://{address}/bytes/100");
    let process = Process::start(
        Command::new("chrt")
            .args(FIFO)
            .args([HEADWORKS, "load", &url, "--rate", "50", "--duration", "1h", "--threads", "2", "--out"])
            .arg(scratch.path()),
    );
    let policies = poll_until(PATIENCE, "threads at their work", || {
        let threads = threads(process.id());
        let first = threads.iter().filter(|(name, policy)| name.starts_with("load-") && *policy == 1).count();
        let others: Vec<_> = threads.iter().filter(|(name, _)| !name.starts_with("load-")).collect();
        // Besides those that keep time: the first thread, and the one that writes the record.
        (first == 2 && others.len() >= 2 && others.iter().all(|(_, policy)| *policy == 0)).then_some(threads)
    });
    assert!(policies.len() >= 4, "{policies:?}");
}
