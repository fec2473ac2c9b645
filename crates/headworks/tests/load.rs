//! `headworks load` as a process: what it prints, how it ends.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};

use record::{RunDirectory, Summary};
use rustix::process::{Pid, Signal, kill_process};
use testkit::{PATIENCE, Process, free_address, poll_until};

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

const WORKLOAD: &str = r#"
kind = "sessions"
timeout = "2s"
[[class]]
name = "premium"
share = 0.5
cookie = "tier=premium"
[[class]]
name = "basic"
share = 0.5
[[page]]
url = "/burn?cpu=1ms"
think = "10ms"
embedded = ["/bytes/2000", "/bytes/8000"]
"#;

fn origin() -> (Process, SocketAddr) {
    let mut server = Process::start(Command::new(HEADWORKS).args([
        "origin",
        "--listen",
        "127.0.0.1:0",
        "--workers",
        "64",
    ]));
    let address = server.wait_for_address("listening on ");
    (server, address)
}

fn load(arguments: &[&str]) -> Output {
    Command::new(HEADWORKS).arg("load").args(arguments).output().unwrap()
}

#[track_caller]
fn expect(output: &Output, code: i32) -> (String, String) {
    let out = String::from_utf8(output.stdout.clone()).unwrap();
    let err = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "stdout: {out}\nstderr: {err}");
    (out, err)
}

/// Whether the machine was quiet enough for a valid run is not what these tests are about.
fn valid_or_not(output: &Output) -> (String, String) {
    expect(output, if output.status.code() == Some(4) { 4 } else { 0 })
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let (_server, address) = origin();
    let scratch = tempfile::tempdir().unwrap();
    let workload = scratch.path().join("workload.toml");
    std::fs::write(&workload, WORKLOAD).unwrap();
    let out = scratch.path().join("run");
    let output = load(&[
        &format!("http://{address}"),
        "--workload",
        workload.to_str().unwrap(),
        "--rate",
        "20",
        "--duration",
        "1s",
        "--warmup",
        "200ms",
        "--out",
        out.to_str().unwrap(),
        "--json",
    ]);
    let (text, progress) = valid_or_not(&output);
    assert!(progress.contains("measuring"), "progress goes to standard error: {progress:?}");
    let summary: Summary = serde_json::from_str(&text).unwrap();
    assert_eq!(summary.sessions.completed, summary.sessions.started);
    assert!(summary.sessions.by_class["premium"].started > 0);
    assert_eq!(summary, RunDirectory::open(&out).unwrap().summary().unwrap());

    // The names that scripts rely on.
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for pointer in [
        "/requests",
        "/responses",
        "/bytes",
        "/duration",
        "/rate/offered",
        "/rate/achieved",
        "/status/200",
        "/errors/connect",
        "/errors/timeout",
        "/errors/reset",
        "/errors/protocol",
        "/errors/body",
        "/latency/total/mean",
        "/latency/connect/p50",
        "/latency/processing/p90",
        "/latency/transfer/p99",
        "/latency/total/p999",
        "/latency/total/max",
        "/latency/total/count",
        "/sessions/started",
        "/sessions/completed",
        "/sessions/duration/p50",
        "/sessions/by_class/premium/started",
        "/sessions/by_class/premium/completed",
        "/sessions/by_class/basic/duration/p90",
        "/client/cpu",
        "/client/lag/p99",
        "/client/valid",
        "/client/why_invalid",
        "/connections/opened",
        "/connections/reused",
        "/connections/syn_retransmits",
    ] {
        assert!(json.pointer(pointer).is_some(), "{pointer} is missing in {text}");
    }
}

#[test]
fn people_get_text_and_quiet_is_quiet() {
    let (_server, address) = origin();
    let url = format!("http://{address}/bytes/100");
    let (text, progress) = valid_or_not(&load(&[&url, "-c", "2", "--duration", "300ms", "--quiet"]));
    assert_eq!(progress, "");
    for word in ["requests/s", "latency", "p99.9", "processing", "200: ", "errors       none", "generator"] {
        assert!(text.contains(word), "{word:?} is missing in {text}");
    }
}

#[test]
fn a_missed_objective_has_its_exit_code() {
    let (_server, address) = origin();
    let url = format!("http://{address}/bytes/100");
    let run = |objective: &str| {
        load(&[&url, "-c", "1", "--duration", "200ms", "--quiet", "--objective", objective])
    };
    let output = run("p50<1ns");
    let (text, _) = expect(&output, if output.status.code() == Some(4) { 4 } else { 3 });
    assert!(text.contains("p50<1ns: MISSED"), "{text}");
    valid_or_not(&run("p50<10s"));
}

#[test]
fn a_server_that_is_not_there_is_said_and_the_record_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("run");
    let url = format!("http://{}/", free_address());
    let output = load(&[&url, "-c", "1", "--duration", "200ms", "--quiet", "--out", out.to_str().unwrap()]);
    let (_, error) = expect(&output, 1);
    assert!(error.contains("not one connection came about") && error.contains("refused"), "{error}");
    let record = RunDirectory::open(&out).unwrap();
    let summary = record.summary().unwrap();
    assert!(summary.errors.connect > 0 && summary.errors.connect == summary.requests);
    assert_eq!(record.requests().unwrap().count() as u64, summary.requests);
}

#[test]
fn what_cannot_be_run_is_refused_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let broken = scratch.path().join("broken.toml");
    std::fs::write(&broken, WORKLOAD.replace("timeout", "timeuot")).unwrap();
    let broken = broken.to_str().unwrap();
    let url = "http://127.0.0.1:1/";
    for (arguments, code, says) in [
        (vec!["127.0.0.1:80"], 2, "is no URL"),
        (vec!["https://127.0.0.1/"], 2, "only http://"),
        (vec![url, "-c", "0"], 2, "'--connections <N>': must be at least 1"),
        (vec![url, "--rate", "0"], 2, "--rate is 0"),
        (vec![url, "--rate", "10", "-c", "10"], 2, "cannot be used with"),
        (vec![url, "--rate", "10", "--arrivals", "gauss"], 2, "constant, poisson, h2:CV"),
        (vec![url, "--duration", "0s"], 2, "--duration is 0"),
        (vec![url, "--timeout", "0s"], 2, "--timeout is 0"),
        (vec![url, "--objective", "p98<1s"], 2, "is no objective"),
        (vec![url, "--workload", "/nowhere.toml"], 2, "/nowhere.toml"),
        (
            vec![url, "--workload", broken],
            2,
            "broken.toml:3: unknown key \"timeuot\"; did you mean \"timeout\"?",
        ),
        (vec!["http://127.0.0.1:1/page", "--workload", broken], 2, "without a path"),
        (vec!["http://no-such-host.invalid/"], 1, "cannot find the address of no-such-host.invalid"),
        (vec![url, "--out", "/proc/nowhere"], 1, "/proc/nowhere"),
    ] {
        let (_, error) = expect(&load(&arguments), code);
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
}

/// Stops a long run with `signal` once it has written its first files.
fn interrupted(address: SocketAddr, out: &Path, signal: Signal) -> (Option<i32>, String) {
    let mut process = Process::start(
        Command::new(HEADWORKS)
            .args(["load", &format!("http://{address}/bytes/100"), "-c", "2", "--duration", "1h", "--json"])
            .args(["--quiet", "--out"])
            .arg(out),
    );
    poll_until(PATIENCE, "rows on their way to the record", || {
        let length = std::fs::metadata(out.join("requests.parquet")).map_or(0, |file| file.len());
        (length > 10_000).then_some(())
    });
    kill_process(Pid::from_raw(process.id().cast_signed()).unwrap(), signal).unwrap();
    let text = process.wait_for_line("{");
    (process.wait().code(), format!("{{{text}"))
}

#[test]
fn an_interrupted_run_keeps_what_was_measured() {
    let (_server, address) = origin();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let scratch = tempfile::tempdir().unwrap();
        let (ended, text) = interrupted(address, scratch.path(), signal);
        assert_eq!(ended, Some(code));
        let summary: Summary = serde_json::from_str(&text).unwrap();
        assert!(summary.interrupted && summary.responses > 0);
        assert!(summary.duration < 60.0, "the window ended with the run: {} s", summary.duration);
        let record = RunDirectory::open(scratch.path()).unwrap();
        assert!(record.info().unwrap().interrupted);
        assert_eq!(record.requests().unwrap().map(Result::unwrap).count() as u64, summary.requests);
    }
}

#[test]
fn running_out_of_descriptors_is_counted_and_makes_the_run_invalid() {
    let (_server, address) = origin();
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 32; exec \"$0\" \"$@\"", HEADWORKS, "load"])
        .args([
            &format!("http://{address}/burn?cpu=20ms"),
            "-c",
            "60",
            "--duration",
            "500ms",
            "--quiet",
            "--json",
        ])
        .output()
        .unwrap();
    let (text, _) = expect(&output, 4);
    let summary: Summary = serde_json::from_str(&text).unwrap();
    assert!(summary.errors.connect > 0 && summary.responses > 0, "{text}");
    assert!(summary.client.why_invalid.iter().any(|why| why.contains("descriptor")), "{text}");
}
