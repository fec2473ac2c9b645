//! Generators that are starved, of the processor, of ports, of descriptors, and one that is not:
//! what they say of their own figures.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::net::SocketAddr;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use record::{ClientSummary, Summary};
use rustix::process::{Pid, Signal, kill_process};
use testkit::Process;

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

/// Tries of what a busy machine can spoil.
const RUNS: usize = 20;

/// Only sessions arrive by chance; their pages follow at fixed distances.
const SESSIONS: &str = r#"
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

fn origin(mode: &str) -> (Process, SocketAddr) {
    let workers = if mode == "static" { "1" } else { "400" };
    Process::origin(HEADWORKS, &["--mode", mode, "--workers", workers])
}

/// `headworks load` through `wrapper`, a program with arguments of its own.
fn load(wrapper: &[&str], url: &str, arguments: &[&str]) -> Command {
    let words = [wrapper, &[HEADWORKS, "load", url, "--json", "--quiet"], arguments].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    command
}

/// What a run said of itself, which is 4 in its exit code when it is not valid.
#[track_caller]
fn client(output: &Output) -> ClientSummary {
    let said = String::from_utf8_lossy(&output.stderr);
    let summary: Summary = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {:?} {said}", output.stdout));
    let client = summary.client;
    assert_eq!(client.valid, client.why_invalid.is_empty());
    assert_eq!(output.status.code(), Some(if client.valid { 0 } else { 4 }), "{said}");
    client
}

#[track_caller]
fn check(output: &Output, reason: &str) {
    let client = client(output);
    assert!(client.why_invalid.iter().any(|why| why.contains(reason)), "{reason:?} is not in {client:?}");
}

/// Processes that do nothing but use a processor.
struct Busy(Vec<Child>);

impl Busy {
    fn on_processor(number: &str, how_many: usize) -> Self {
        let start = |_| {
            Command::new("taskset").args(["-c", number, "sh", "-c", "while :; do :; done"]).spawn().unwrap()
        };
        Self((0..how_many).map(start).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // Fails only when it has ended, which is the aim.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_generator_that_must_share_its_processor_says_so() {
    let (_server, address) = origin("static");
    let url = format!("http://{address}/bytes/100");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let processor = allowed.trim().split(['-', ',']).next().unwrap();
    let _busy = Busy::on_processor(processor, 3);
    let output =
        load(&["taskset", "-c", processor], &url, &["-c", "16", "--duration", "2s"]).output().unwrap();
    check(&output, "because others used it");
}

#[test]
fn a_generator_that_is_the_bottleneck_says_so() {
    // A digest of 100 kB costs more than sending them. What the machine leaves it is not known, so
    // that either reason may come: it used the whole processor, or wanted to.
    let (_server, address) = origin("static");
    let url = format!("http://{address}/bytes/100000");
    let digest = "0000000000000000000000000000000000000000000000000000000000000000";
    let arguments = ["-c", "16", "--duration", "2s", "--expect-sha256", digest];
    check(&load(&[], &url, &arguments).output().unwrap(), "processor");
}

#[test]
fn a_generator_that_was_held_up_says_that_arrivals_were_not_poisson() {
    let (_server, address) = origin("static");
    let url = format!("http://{address}/bytes/100");
    let arguments = ["--rate", "300", "--arrivals", "poisson", "--duration", "4s"];
    let generator =
        load(&[], &url, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_child(&generator);
    for _ in 0..5 {
        thread::sleep(Duration::from_millis(300));
        kill_process(pid, Signal::STOP).unwrap();
        thread::sleep(Duration::from_millis(300));
        kill_process(pid, Signal::CONT).unwrap();
    }
    let output = generator.wait_with_output().unwrap();
    check(&output, "were not Poisson");
    check(&output, "began more than 1ms after their time");
    check(&output, "stood still for");
}

#[test]
fn a_generator_without_descriptors_says_so() {
    let (_server, address) = origin("workers");
    let url = format!("http://{address}/delay?before=100ms");
    let limited = ["prlimit", "--nofile=100:100"];
    let output = load(&limited, &url, &["-c", "200", "--duration", "1s"]).output().unwrap();
    check(&output, "had no descriptor left");
}

#[test]
fn a_generator_without_ports_says_so() {
    let may = Command::new("unshare").args(["--net", "ip", "link", "set", "lo", "up"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        testkit::skip(&"a network with few ports takes root, and the ip of iproute2");
        return;
    }
    // A network of its own, which ends with the processes in it.
    let script = r#"
        ip link set lo up
        echo "40000 40099" > /proc/sys/net/ipv4/ip_local_port_range
        "$0" origin --listen 127.0.0.1:8080 --workers 400 >&2 &
        server=$!
        "$0" load "http://127.0.0.1:8080/delay?before=200ms" --json --quiet --duration 2s "$@"
        code=$?
        kill $server
        exit $code
    "#;
    let isolated = |arguments: &[&str]| {
        let words = ["unshare", "--net", "sh", "-c", script, HEADWORKS];
        Command::new(words[0]).args(&words[1..]).args(arguments).output().unwrap()
    };
    let each = ["--requests-per-connection", "1"];
    check(&isolated(&["-c", "200"]), "had no port left");
    check(&isolated(&[&["--rate", "1000"][..], &each].concat()), "had no port left");
    let few = client(&isolated(&[&["--rate", "100"][..], &each].concat()));
    assert!(!few.why_invalid.iter().any(|why| why.contains("port")), "20 at a time are few: {few:?}");
}

#[test]
fn a_healthy_generator_gives_no_reason() {
    let (_server, address) = origin("static");
    let (url, page) = (format!("http://{address}"), format!("http://{address}/bytes/1000"));
    // What else the machine does must not decide this, where that can be had.
    let first = ["chrt", "--fifo", "1"];
    let may = Command::new(first[0]).args(&first[1..]).arg("true").output();
    let wrapper = if may.is_ok_and(|output| output.status.success()) { &first[..] } else { &[] };
    let directory = tempfile::tempdir().unwrap();
    let sessions = directory.path().join("sessions.toml");
    std::fs::write(&sessions, SESSIONS).unwrap();
    for (url, arguments) in [
        (&page, &["--rate", "300"][..]),
        (&page, &["--rate", "300", "--arrivals", "poisson"]),
        (&page, &["-c", "2", "--think", "5ms"]),
        (&url, &["--rate", "100", "--workload", sessions.to_str().unwrap()]),
    ] {
        let arguments = [arguments, &["--duration", "3s"]].concat();
        let reasons: Vec<Vec<String>> = (0..RUNS)
            .map(|_| client(&load(wrapper, url, &arguments).output().unwrap()).why_invalid)
            .take_while(|why| !why.is_empty())
            .collect();
        assert!(reasons.len() < RUNS, "{arguments:?}: {reasons:?}");
    }
}
