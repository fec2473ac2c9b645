//! Sessions of several pages, as `headworks load` waits for them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::process::Command;

use record::{RunDirectory, SessionRow};
use testkit::Process;
use units::Span;

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

/// The pauses of SURGE's users have a long tail; nothing is under way in them.
#[test]
fn a_run_does_not_wait_for_users_who_pause() {
    let mut server = Process::start(Command::new(HEADWORKS).args(["origin", "--listen", "127.0.0.1:0"]));
    let url = format!("http://{}", server.wait_for_address("listening on "));
    let arguments = ["--workload", "surge", "-c", "100", "--duration", "1s", "--drain", "1h", "--quiet"];
    let mut run = Process::start(Command::new(HEADWORKS).args(["load", &url]).args(arguments));
    run.wait();
}

/// Closed loops find what a server carries, or are so many users who pause: `vus` and `sleep` of others.
#[test]
fn users_of_a_closed_loop_pause_where_that_is_asked_for() {
    let mut server = Process::start(Command::new(HEADWORKS).args(["origin", "--listen", "127.0.0.1:0"]));
    let url = format!("http://{}", server.wait_for_address("listening on "));
    let scratch = tempfile::tempdir().unwrap();
    let workload = scratch.path().join("two.toml");
    let pages = "[[page]]\nurl = \"/bytes/1\"\nthink = \"exp:50ms\"\n[[page]]\nurl = \"/bytes/2\"\n";
    std::fs::write(&workload, format!("kind = \"sessions\"\n{pages}")).unwrap();
    let pauses = |name: &str, more: &[&str]| -> Vec<Span> {
        let out = scratch.path().join(name);
        let workload = workload.to_str().unwrap();
        let mut run = Process::start(
            Command::new(HEADWORKS)
                .args(["load", &url, "-w", workload, "-c", "5", "-n", "5", "-q", "--out"])
                .arg(&out)
                .args(more),
        );
        run.wait();
        let rows = RunDirectory::open(&out).unwrap().sessions().unwrap();
        rows.map(Result::unwrap).map(|SessionRow { think_ns, .. }| think_ns).collect()
    };
    assert_eq!(pauses("at-once", &[]), [Span::ZERO; 5]);
    let made: BTreeSet<Span> = pauses("paused", &["--pauses"]).into_iter().collect();
    assert_eq!(made.len(), 5, "who begins at the same moment does not pause alike: {made:?}");
}
