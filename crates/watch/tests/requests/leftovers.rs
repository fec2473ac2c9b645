//! What is left of a monitor that was killed.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use libbpf_rs::query::ProgInfoIter;
use testkit::poll_until;

use crate::{Followed, is_able};

/// Programs in the kernel that a process holds.
fn held(process: u32) -> Vec<u32> {
    let infos = std::fs::read_dir(format!("/proc/{process}/fdinfo")).into_iter().flatten().flatten();
    let texts = infos.filter_map(|info| std::fs::read_to_string(info.path()).ok());
    let id = |text: String| text.lines().find_map(|line| line.strip_prefix("prog_id:")?.trim().parse().ok());
    texts.filter_map(id).collect()
}

/// Not a test of its own: what the test below starts and kills.
#[test]
#[ignore = "runs until it is killed"]
fn follows_until_it_is_killed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _followed = Followed::begin(listener.local_addr().unwrap().port());
    println!("\nfollowing");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn nothing_is_left_of_one_that_was_killed() {
    if !is_able() {
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "leftovers::follows_until_it_is_killed", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    assert!(output.lines().map_while(Result::ok).any(|line| line == "following"));
    let held = held(child.id());
    assert!(held.len() >= 10, "it follows: {held:?}");
    // Two at once do not get into each other's way.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    drop(Followed::begin(listener.local_addr().unwrap().port()));
    child.kill().unwrap();
    child.wait().unwrap();
    poll_until(Duration::from_secs(20), "its programs to be gone", || {
        ProgInfoIter::default().all(|program| !held.contains(&program.id)).then_some(())
    });
}
