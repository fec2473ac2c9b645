//! `headworks watch --keep` and `watch read`: what happened just now; and what others make of a watch's metrics.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;
use testkit::{Process, Raw};

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

fn headworks(arguments: &[&str]) -> Output {
    Command::new(HEADWORKS).args(arguments).output().unwrap()
}

/// Standard output of what succeeds.
fn said(arguments: &[&str]) -> String {
    let output = headworks(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn is_able() -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        testkit::skip(&"only root may load programs");
    }
    is_root
}

/// A watch of the port, both of its streams in one.
fn watch(port: u16, options: &str) -> Process {
    let script = format!("exec {HEADWORKS} watch --port {port} --budget none --plain {options} 2>&1");
    let mut watch = Process::start(Command::new("sh").args(["-c", &script]));
    watch.wait_for_line("  user%");
    watch
}

fn signal(process: &Process, signal: Signal) {
    kill_process(Pid::from_raw(process.id() as i32).unwrap(), signal).unwrap();
}

#[test]
fn what_is_kept_is_written_when_it_is_asked_for_and_can_be_read() {
    if !is_able() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let (_server, address) = Process::origin(HEADWORKS, &[]);
    let mut watch = watch(address.port(), &format!("--out {} --keep 30s --interval 200ms", out.display()));
    let mut client = Raw::connect(address);
    for _ in 0..50 {
        client.get("/bytes/1000").response();
    }
    watch.wait_for_line("        0-50k");
    signal(&watch, Signal::USR1);
    watch.wait_for_line("headworks: kept: it was asked for: ");
    client.get("/bytes/100000").response();
    signal(&watch, Signal::INT);
    assert_eq!(watch.wait().code(), Some(130));

    let kept = |number: u32| out.join(format!("kept-{number}")).display().to_string();
    let first: Value =
        serde_json::from_str(&said(&["watch", "read", &kept(1), "--interval", "0s", "--json"])).unwrap();
    let rows = first["rows"].as_array().unwrap();
    assert!(rows.len() > 5, "{first}");
    let ends = rows.iter().map(|row| row["offset"].as_f64().unwrap());
    let begins = [first["from"].as_f64().unwrap()].into_iter().chain(ends.clone());
    let responses: f64 = rows
        .iter()
        .zip(ends.zip(begins))
        .map(|(row, (end, begin))| row["figures"]["requests.rate{0-50k}"].as_f64().unwrap() * (end - begin))
        .sum();
    assert!((responses - 50.0).abs() < 0.5, "{responses}");
    assert_eq!(first["slowest"].as_array().unwrap().len(), 5, "{first}");
    let second = said(&["watch", "read", &kept(2)]);
    assert!(second.contains("50k-500k") && second.contains("runq"), "{second}");
    let whole = said(&["watch", "read", out.to_str().unwrap(), "--from", "0s", "--to", "-0s"]);
    assert!(whole.contains("finer looks: headworks watch read ") && whole.contains("kept-2"), "{whole}");
}

#[test]
fn what_cannot_be_kept_or_read_is_told() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run").display().to_string();
    for (arguments, part) in [
        (&["watch", "--keep", "10m"][..], "--keep: give --out DIR"),
        (&["watch", "--keep", "10ms", "--out", &out], "--keep: must be from "),
        (&["watch", "--keep-on", "kernel.run_queue>8"], "--keep-on: nothing is kept"),
        (&["watch", "--keep", "1m", "--keep-on", "kernel.run_que>8"], "did you mean kernel.run_queue?"),
        (&["watch", "read", &out], "is no record of a watch"),
        (&["watch", "read", &out, "--from", "noon"], "\"noon\" is no moment"),
    ] {
        let output = headworks(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && text.contains(part), "{arguments:?}: {text}");
    }
    assert!(!Path::new(&out).exists());
}

fn names(text: &str) -> BTreeSet<String> {
    crate::asked::names(text, &["headworks_watch_", "http_server_"])
}

#[test]
fn the_dashboard_and_the_alerts_ask_for_what_is_there() {
    if !is_able() {
        return;
    }
    let contrib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib");
    let read = |name: &str| fs::read_to_string(contrib.join(name)).unwrap();
    let dashboard = read("grafana/headworks-watch.json");
    let parsed: Value = serde_json::from_str(&dashboard).unwrap();
    assert!(parsed["panels"].as_array().unwrap().len() > 10);
    let mut asked = names(&dashboard);
    asked.extend(names(&read("prometheus/headworks-watch.rules.yml")));
    assert!(asked.len() > 20, "{asked:?}");

    let (_server, address) = Process::origin(HEADWORKS, &[]);
    let script = format!(
        "exec {HEADWORKS} watch --port {} --budget none --interval 200ms --prometheus 0 --plain 2>&1",
        address.port()
    );
    let mut watch = Process::start(Command::new("sh").args(["-c", &script]));
    let scraped = watch.wait_for_line("headworks: metrics on http://");
    let scraped: SocketAddr = scraped.strip_suffix("/metrics").unwrap().parse().unwrap();
    Raw::connect(address).get("/bytes/1000").response();
    let (mut missing, mut exposition) = (Vec::new(), String::new());
    for _ in 0..100 {
        exposition = Raw::connect(scraped).get("/metrics").response().text().to_owned();
        missing = asked.difference(&names(&exposition)).cloned().collect();
        if missing.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(missing.is_empty(), "{missing:?}");
    let of_server =
        format!("headworks_watch_followed_total{{server=\"hw-origin\",port=\"{}\",class=", address.port());
    assert!(exposition.contains(&of_server), "{exposition}");
    testkit::promtool::check_metrics(&exposition);
    testkit::promtool::check_rules(&contrib.join("prometheus/headworks-watch.rules.yml"));
    assert_eq!(watch.terminate().code(), Some(143));
}
