//! What `headworks load` tells besides its summary: levels of a ramp, percentiles, files for other programs; and a run
//! that ends when an objective is missed.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs::read_to_string;
use std::net::SocketAddr;
use std::process::{Command, Output};

use record::{RunDirectory, Summary, Timestamp};
use testkit::Process;

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

fn origin() -> (Process, SocketAddr) {
    Process::origin(HEADWORKS, &["--workers", "64"])
}

fn load(url: &str, arguments: &[&str]) -> Output {
    Command::new(HEADWORKS).args(["load", url, "--quiet"]).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn summary(output: &Output) -> Summary {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {} {said}", text(output)))
}

#[test]
fn the_levels_of_a_ramp_add_up_to_the_run() {
    let (_server, address) = origin();
    let url = format!("http://{address}/delay?before=2ms&bytes=100");
    for (ramp, unit) in [("100:300:100:400ms", "requests/s"), ("1:3:1:400ms", "clients")] {
        let closed: &[&str] = if unit == "clients" { &["--closed"] } else { &[] };
        let bounds = ["--ramp", ramp, "--objective", "p99<1ns", "--objective", "max<1h", "--json"];
        let summary = summary(&load(&url, &[&bounds, closed].concat()));
        assert_eq!(summary.steps.len(), 3, "{unit}");
        assert_eq!(summary.steps.iter().map(|step| step.requests).sum::<u64>(), summary.requests, "{unit}");
        assert_eq!(summary.steps.iter().map(|step| step.responses).sum::<u64>(), summary.responses, "{unit}");
        let counted: u64 = summary.steps.iter().map(|step| step.latency.total.count).sum();
        assert_eq!(counted, summary.latency.total.count, "{unit}");
        let mut until = 0.0;
        for step in &summary.steps {
            assert_eq!((step.unit.as_str(), step.from), (unit, until));
            until = step.to;
            let met: Vec<bool> = step.objectives.iter().map(|objective| objective.met).collect();
            assert_eq!(met, [false, true], "{unit}: each level has its own answer");
            assert!(step.latency.total.p99 <= summary.latency.total.max * 1.01, "{unit}");
        }
        let longest = summary.steps.iter().map(|step| step.latency.total.max).fold(0.0, f64::max);
        assert_eq!(longest, summary.latency.total.max, "{unit}");
        let shown = text(&load(&url, &[&["--ramp", ramp, "--objective", "p99<1ns"], closed].concat()));
        let rows = shown.lines().filter(|line| line.ends_with("misses p99<1ns"));
        assert_eq!(rows.count(), 3, "{shown}");
    }
}

#[test]
fn a_ramp_of_sessions_tells_those_completed() {
    let (_server, address) = origin();
    let scratch = tempfile::tempdir().unwrap();
    let workload = scratch.path().join("two.toml");
    std::fs::write(
        &workload,
        "kind = \"sessions\"\n[[page]]\nurl = \"/bytes/10\"\n[[page]]\nurl = \"/bytes/20\"\n",
    )
    .unwrap();
    let workload = workload.to_str().unwrap();
    let output =
        load(&format!("http://{address}"), &["--workload", workload, "--ramp", "20:40:20:500ms", "--json"]);
    let summary = summary(&output);
    let (mut started, mut completed) = (0, 0);
    for step in &summary.steps {
        assert_eq!(step.unit, "sessions/s");
        started += step.sessions_started;
        completed += step.sessions_completed;
    }
    assert!(started > 0);
    assert_eq!((started, completed), (summary.sessions.started, summary.sessions.completed));
}

#[test]
fn a_run_ends_when_an_objective_is_missed_for_long_enough() {
    let (_server, address) = origin();
    let slow = format!("http://{address}/delay?before=50ms&bytes=10");
    let run = |stop: &[&str]| load(&slow, &[&["-c", "2", "--duration", "30s", "--json"], stop].concat());
    for stop in [
        &["--stop-when", "p99<20ms for 2s"][..],
        &["--stop-when", "p99>=20ms for 2s"],
        &["--objective", "p99<20ms", "--stop-when", "2s"],
    ] {
        let output = run(stop);
        let summary = summary(&output);
        // A machine that did not leave the generator in peace comes first.
        let expected = if summary.client.valid { 3 } else { 4 };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{stop:?}: {said}");
        assert!((2.0..20.0).contains(&summary.duration), "{stop:?}: {}", summary.duration);
        assert!(!summary.interrupted, "{stop:?}: nobody interrupted it");
        assert!(
            summary.stopped.as_deref().unwrap().contains("p99<20ms was missed for 2s"),
            "{:?}",
            summary.stopped
        );
        assert!(summary.requests > 20, "{stop:?}: what was measured is there");
    }
    // Connections are kept: no second has one to measure, and that misses nothing.
    let output = load(
        &slow,
        &["-c", "2", "--warmup", "1s", "--duration", "3s", "--stop-when", "connect.p99<1ns for 1s", "--json"],
    );
    assert_eq!(summary(&output).stopped, None);
    // Nothing is missed.
    let output = load(&slow, &["-c", "2", "--duration", "3s", "--stop-when", "p99<10s for 1s", "--json"]);
    assert_ne!(output.status.code(), Some(3));
    assert_eq!((summary(&output).stopped, summary(&output).duration), (None, 3.0));
}

#[test]
fn a_ramp_that_is_stopped_says_what_it_offered_until_then() {
    let (_server, address) = origin();
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("run");
    let output = load(
        &format!("http://{address}/delay?before=30ms"),
        &[
            "--ramp",
            "20:200:20:2s",
            "--stop-when",
            "p50<1ms for 1s",
            "--json",
            "--out",
            out.to_str().unwrap(),
        ],
    );
    let summary = summary(&output);
    assert_eq!(summary.steps.len(), 1, "{:?}", summary.steps);
    assert_eq!(summary.rate.offered, 20.0);
    let info = RunDirectory::open(&out).unwrap().info().unwrap();
    assert_eq!(info.steps.len(), 1);
    assert!(!info.interrupted);
    assert_eq!(info.spec["stop_when"][0].as_str(), Some("p50<1ms for 1s"));
}

#[test]
fn percentiles_are_told_as_they_were_asked_for() {
    let (_server, address) = origin();
    let url = format!("http://{address}/bytes/10");
    let ask = |more: &[&str]| {
        load(&url, &[&["-c", "1", "--duration", "300ms", "--percentiles", "p10,75,99.99,100"], more].concat())
    };
    let q = summary(&ask(&["--json"])).latency.total;
    let names: Vec<&str> = q.others.keys().map(String::as_str).collect();
    assert_eq!(names, ["p10", "p100", "p75", "p99.99"]);
    let [p10, p100, p75, p9999] = ["p10", "p100", "p75", "p99.99"].map(|name| q.others[name]);
    assert!(q.min <= p10 && p10 <= q.p50 && q.p50 <= p75 && p75 <= p9999 && p9999 <= p100, "{q:?}");
    assert_eq!(p100, q.max);
    let shown = text(&ask(&[]));
    let head = shown.lines().find(|line| line.trim_start().starts_with("latency")).unwrap();
    let words: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(words, ["latency", "mean", "p10", "p75", "p99.99", "p100", "max", "count"]);
}

#[test]
fn files_for_other_programs_hold_every_request() {
    let (_server, address) = origin();
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    let [latency, hgrm, requests] = ["latency.csv", "latency.hgrm", "requests.csv"].map(path);
    let began = Timestamp::now();
    let output = load(
        &format!("http://{address}/bytes/10"),
        &[
            "-n",
            "200",
            "-c",
            "4",
            "--json",
            "--latency-csv",
            &latency,
            "--latency-hgrm",
            &hgrm,
            "--requests-csv",
            &requests,
        ],
    );
    assert_eq!(summary(&output).requests, 200);
    let latency = read_to_string(latency).unwrap();
    let rows = latency.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let count = |phase| {
        let of_phase = rows.clone().filter(move |row| row[0] == phase);
        of_phase.map(|row| row[2].parse::<u64>().unwrap()).sum::<u64>()
    };
    assert_eq!((count("total"), count("processing"), count("connect")), (200, 200, 4));
    assert!(read_to_string(hgrm).unwrap().contains("Total count    =          200]"));
    let requests = read_to_string(requests).unwrap();
    assert_eq!(requests.lines().count(), 201);
    let head: Vec<&str> = requests.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|column| *column == name).unwrap();
    for line in requests.lines().skip(1) {
        let row: Vec<&str> = line.split(',').collect();
        assert_eq!((row[column("status")], row[column("bytes")], row[column("error")]), ("200", "10", ""));
        let [latency, queued, connect, processing, transfer] =
            ["latency", "queued", "connect", "processing", "transfer"]
                .map(|name| row[column(name)].parse::<f64>().unwrap());
        assert!((latency - queued - connect - processing - transfer).abs() < 1e-9, "{line}");
        let time = row[column("time")].parse::<Timestamp>().unwrap();
        assert!(began <= time && time <= Timestamp::now(), "{line}");
    }
}

#[test]
fn a_file_that_cannot_be_made_ends_the_run_before_it_begins() {
    for option in ["--latency-csv", "--latency-hgrm", "--requests-csv"] {
        let output = load("http://127.0.0.1:1/", &[option, "/nowhere/at/all"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("cannot write /nowhere/at/all"), "{error}");
    }
}

#[test]
fn a_time_alone_needs_an_objective() {
    let output = load("http://127.0.0.1:1/", &["--stop-when", "10s"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--objective"));
}

#[test]
fn a_percentile_that_every_record_has_is_asked_for_without_harm() {
    let (_server, address) = origin();
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("run");
    let out = out.to_str().unwrap();
    let output = load(
        &format!("http://{address}/bytes/10"),
        &["-n", "50", "-c", "1", "--percentiles", "50,75,p99", "--out", out, "--json"],
    );
    let q = summary(&output).latency.total;
    assert_eq!(q.others.keys().collect::<Vec<_>>(), ["p75"], "the others have fields of their own");
    let report = Command::new(HEADWORKS).args(["report", out]).output().unwrap();
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
}

#[test]
fn an_objective_that_nothing_can_answer_is_refused() {
    for (arguments, mend) in [
        (&["--objective", "tls.p99<10ms"][..], "https://"),
        (&["--objective", "dns.p50<1ms"], "--lookup"),
        (&["--objective", "sending.max<1ms"], "--body"),
        (&["--objective", "completed>=50%"], "sessions"),
        (&["--stop-when", "tls.p99>=10ms for 5s"], "https://"),
    ] {
        // No server listens there, and none is asked.
        let output = load("http://127.0.0.1:9/", arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(
            said.contains("nothing will be measured for") && said.contains(mend),
            "{arguments:?}: {said}"
        );
    }
}
