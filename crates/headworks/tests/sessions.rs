//! Sessions of several pages, as `headworks load` judges them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::process::Command;

use record::Summary;
use testkit::Process;

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

const WORKLOAD: &str = r#"
kind = "sessions"

[[page]]
url = "/bytes/100"
think = "100ms"

[[page]]
url = "/bytes/200"
think = "100ms"

[[page]]
url = "/bytes/300"
"#;

/// Pages follow one another at fixed distances; only sessions arrive by chance.
#[test]
fn pages_do_not_count_as_arrivals() {
    let mut server = Process::start(Command::new(HEADWORKS).args(["origin", "--listen", "127.0.0.1:0"]));
    let url = format!("http://{}", server.wait_for_address("listening on "));
    let directory = tempfile::tempdir().unwrap();
    let workload = directory.path().join("pages.toml");
    std::fs::write(&workload, WORKLOAD).unwrap();
    let run = Command::new(HEADWORKS)
        .args(["load", &url, "--rate", "100", "--duration", "4s", "--json", "--quiet", "--workload"])
        .arg(&workload)
        .output()
        .unwrap();
    let summary: Summary = serde_json::from_slice(&run.stdout).unwrap();
    assert!(summary.sessions.completed > 300, "{:?}", summary.sessions);
    let reasons = summary.client.why_invalid;
    assert!(!reasons.iter().any(|why| why.contains("not Poisson")), "{reasons:?}");
}

/// The pauses of SURGE's users have a long tail; nothing is under way in them.
#[test]
fn a_run_does_not_wait_for_users_who_pause() {
    let mut server = Process::start(Command::new(HEADWORKS).args(["origin", "--listen", "127.0.0.1:0"]));
    let url = format!("http://{}", server.wait_for_address("listening on "));
    let arguments = ["--workload", "surge", "-c", "100", "--duration", "1s", "--drain", "1h", "--quiet"];
    let mut run = Process::start(Command::new(HEADWORKS).args(["load", &url]).args(arguments));
    run.wait();
}
