//! `headworks sim sweep` as a process.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const SPEC: &str = "
[sweep]
title = 'small'
[plan]
requests = '100k'
warmup = 100
replications = 4
precision = 0
[[curve]]
name = 'short'
queue = 5
[[curve]]
name = 'long'
queue = 50
[grid]
cv = [1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 3.75, 4, 4.25, 4.5, 4.75, 5, 5.25, 5.5, 5.75, 6]
";

fn start(spec: &Path, out: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_headworks"))
        .args(["sim", "sweep"])
        .arg(spec)
        .arg("--out")
        .arg(out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn finish(child: Child) -> (Output, String) {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
    (output, text)
}

#[test]
fn an_interrupted_sweep_goes_on_to_the_same_table() {
    let scratch = tempfile::tempdir().unwrap();
    let [spec, whole, stopped] = ["spec.toml", "whole", "stopped"].map(|name| scratch.path().join(name));
    std::fs::write(&spec, SPEC).unwrap();
    let child = start(&spec, &stopped);
    let deadline = Instant::now() + Duration::from_secs(60);
    while std::fs::read_dir(stopped.join("points")).map_or(0, Iterator::count) < 2 {
        assert!(Instant::now() < deadline, "no point was written");
        sleep(Duration::from_millis(2));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let (output, text) = finish(child);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("keeps what is done") && !stopped.join("points.parquet").exists(), "{text}");

    let (output, text) = finish(start(&spec, &stopped));
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("How many requests are rejected?"), "{text}");
    finish(start(&spec, &whole));
    let table = |out: &Path| std::fs::read(out.join("points.parquet")).unwrap();
    assert_eq!(table(&stopped), table(&whole));
    assert!(stopped.join("report.html").exists());

    std::fs::write(&spec, SPEC.replace("queue = 5\n", "queue = 6\n")).unwrap();
    let (output, text) = finish(start(&spec, &stopped));
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("holds another sweep"), "{text}");
}

#[test]
fn points_that_are_not_as_precise_as_asked_are_told_by_the_exit_code() {
    let scratch = tempfile::tempdir().unwrap();
    let spec = scratch.path().join("spec.toml");
    let few = "[sweep]\ntitle = 't'\n[plan]\nrequests = 500\nwarmup = 10\nreplications = 4\nprecision = 0.001\n[quick]\nreplications = 2\n[grid]\nload = [0.9, 1]\n";
    std::fs::write(&spec, few).unwrap();
    let (output, text) = finish(start(&spec, &scratch.path().join("whole")));
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("2 points are not as precise as asked for"), "{text}");
    let quick = Command::new(env!("CARGO_BIN_EXE_headworks"))
        .args(["sim", "sweep", "--quick", "--out"])
        .arg(scratch.path().join("quick"))
        .arg(&spec)
        .output()
        .unwrap();
    assert_eq!(quick.status.code(), Some(0), "{}", String::from_utf8_lossy(&quick.stderr));
}
