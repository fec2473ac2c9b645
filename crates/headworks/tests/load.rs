//! `headworks load` as a process: what it prints, how it ends.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};

use record::{RequestError, RequestRow, RunDirectory, Summary};
use rustix::process::{Pid, Signal, kill_process};
use testkit::{Nginx, PATIENCE, Process, free_address, poll_until};

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
    Process::origin(HEADWORKS, &["--workers", "64"])
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
        "3s",
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

/// A call that must end at once, with this code and these words on standard error, each once.
#[track_caller]
fn check_refused(arguments: &[&str], code: i32, says: &str) {
    let (_, error) = expect(&load(arguments), code);
    assert_eq!(error.matches(says).count(), 1, "{arguments:?}: {error}");
    assert!(!error.contains("measuring"), "{arguments:?} began: {error}");
}

const NOBODY: &str = "http://127.0.0.1:1/";

/// Options with a URL where no server listens are refused; 2 is the exit code.
#[track_caller]
fn check_options(table: &[(&[&str], &str)]) {
    for (arguments, says) in table {
        check_refused(&[&[NOBODY], *arguments].concat(), 2, says);
    }
}

#[test]
fn what_cannot_be_reached_is_refused_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let empty = scratch.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    for (arguments, code, says) in [
        (&["127.0.0.1:80"][..], 2, "is not a valid URL"),
        (&["ftp://127.0.0.1/"], 2, "only http:// and https:// can"),
        (&["http://no-such-host.invalid/"], 1, "cannot find the address of no-such-host.invalid"),
        (&[NOBODY, "--out", "/proc/nowhere"], 1, "/proc/nowhere: No such file or directory (os error 2)\n"),
        (&["https://127.0.0.1:1/", "--cacert", "/missing"], 2, "cannot read certificates from /missing"),
        (&["https://127.0.0.1:1/", "--cacert", empty.to_str().unwrap()], 2, "it has no certificate"),
        (&["make-content", "/proc/nowhere", "--workload", "webstone"], 1, "cannot create /proc/nowhere"),
    ] {
        check_refused(arguments, code, says);
    }
}

#[test]
fn loads_that_cannot_be_are_refused_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let at_once = scratch.path().join("at_once.log");
    std::fs::write(&at_once, "1.5\n".repeat(3)).unwrap();
    let at_once = format!("trace:{}", at_once.display());
    check_options(&[
        (&["-c", "0"], "must be at least 1"),
        (&["-c", "1M"], "--connections"),
        (&["--threads", "0"], "must be at least 1"),
        (&["--rate", "0"], "--rate is 0"),
        (&["--arrivals", "poisson", "-c", "10"], "--arrivals needs --rate or --ramp"),
        (&["--rate", "10", "--think", "1s"], "cannot be used with"),
        (&["--rate", "10", "--arrivals", "gauss"], "constant, poisson, h2:CV"),
        (&["--arrivals", "poisson"], "--arrivals needs --rate or --ramp"),
        (&["--arrivals", &at_once, "--rate", "5"], "no rate that could be scaled"),
        (&["--duration", "0s"], "--duration is 0"),
        (&["--timeout", "0s"], "--timeout is 0"),
        (&["--ramp", "1:2:3"], "it has 3 of 4 fields"),
        (&["--ramp", "1:2"], "HOLD is \"2\" rather than a length of time"),
        (&["--ramp", "10:20:0:1s"], "STEP is 0"),
        (&["--ramp", "1:2:0.5:1s", "--closed"], "whole numbers"),
        (&["--closed"], "--ramp <RAMP>\n\n"),
        (&["--objective", "p0<1s"], "is not an objective"),
        (&["--stop-when", "soon"], "is no length of time"),
        (&["--stop-when", "p99 for 3s"], "is not an objective"),
        (&["--percentiles", "50,101"], "is not a percentile"),
        (&["--follow", "2", "--pipeline", "4"], "--follow needs the response"),
    ]);
}

#[test]
fn workloads_that_cannot_be_are_refused_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let broken = file("broken.toml", &WORKLOAD.replace("timeout", "timeuot"));
    let whole = file("whole.toml", WORKLOAD);
    check_options(&[
        (&["--workload", "/nowhere.toml"], "/nowhere.toml: cannot read it: No such file"),
        (&["--workload", &broken], "broken.toml:3: unknown key \"timeuot\"; did you mean \"timeout\"?"),
        (&["--workload", "surg"], "did you mean \"surge\"?"),
        (&["--workload", "trace:/missing"], "cannot read /missing: No such file or directory (os error 2)\n"),
        (&["--workload", &format!("trace:{whole}")], "not one of its lines can be replayed"),
        (&["--workload", &whole, "--pipeline", "4"], "a session waits for its pages"),
        (&["--rate", "10", "--pipeline", "4"], "--pipeline with HTTP/1 is for a closed loop"),
    ]);
    check_refused(&["http://127.0.0.1:1/page", "--workload", &whole], 2, "without a path");
}

#[test]
fn requests_that_cannot_be_are_refused_at_once() {
    check_options(&[
        (&["--user", "me"], "write NAME:PASSWORD"),
        (&["--header", "no colon"], "write it as 'Name: value'"),
        (&["--header", "Content-Length: 3"], "the length is that of --body"),
        (&["--method", "CONNECT"], "CONNECT opens a tunnel"),
        (
            &["--body", "@/missing"],
            "cannot read the body from /missing: No such file or directory (os error 2)\n",
        ),
        (&["--connect-to", "garbage"], "is not a place to connect to"),
        (&["--connect-to", "a:1", "--unix-socket", "b"], "cannot be used with"),
        (&["--http", "3"], "expected 1.0, 1.1, 2"),
        (&["--engine", "uring"], "expected auto, io_uring, epoll"),
        (&["--expect-status", "20x"], "is not a status"),
        (&["--expect-sha256", "ab"], "is not a SHA-256"),
        (&["--expect-body", "["], "unclosed character class"),
    ]);
}

#[test]
fn so_many_at_a_rate_take_as_long_as_they_come() {
    let (_server, address) = origin();
    let url = format!("http://{address}/bytes/10");
    let (text, _) =
        valid_or_not(&load(&[&url, "-n", "3", "--rate", "5", "--arrivals", "constant", "--json", "-q"]));
    let summary: Summary = serde_json::from_str(&text).unwrap();
    assert_eq!(summary.requests, 3, "the last comes after 0.4 s, in which nothing is under way");
    assert!((0.4..1.0).contains(&summary.duration), "{}", summary.duration);
}

#[test]
fn connections_are_closed_or_kept_as_a_field_says() {
    let (_server, address) = origin();
    let url = format!("http://{address}/bytes/10");
    let run = |arguments: &[&str]| {
        let (text, _) = valid_or_not(&load(
            &[&[url.as_str(), "-n", "20", "-c", "2", "--json", "-q"], arguments].concat(),
        ));
        let summary: Summary = serde_json::from_str(&text).unwrap();
        assert_eq!(summary.responses, 20, "{arguments:?}: {:?}", summary.error_details);
        summary.connections.opened
    };
    assert_eq!(run(&["-H", "Connection: close"]), 20);
    assert_eq!(run(&["-H", "connection: Close", "--requests-per-connection", "1"]), 20);
    assert_eq!(run(&["-H", "Connection: keep-alive"]), 2);
    assert_eq!(run(&["--http", "1.0"]), 20);
    assert_eq!(run(&["--http", "1.0", "-H", "Connection: keep-alive"]), 2);
    check_options(&[
        (&["-H", "Connection: close", "--requests-per-connection", "5"], "contradict each other"),
        (&["-H", "Connection: upgrade"], "write Connection: close"),
    ]);
}

#[test]
fn content_is_made_and_asked_for() {
    let scratch = tempfile::tempdir().unwrap();
    let content = scratch.path().join("content");
    let content = content.to_str().unwrap();
    for kept in ["webstone2", "webstone2"] {
        let (text, _) = expect(&load(&["make-content", content, "--workload", kept]), 0);
        assert!(text.contains("files"), "{text}");
    }
    let mut server = Process::start(
        Command::new(HEADWORKS).args(["origin", "--listen", "127.0.0.1:0"]).args(["--content", content]),
    );
    let url = format!("http://{}", server.wait_for_address("listening on "));
    let out = scratch.path().join("run");
    let output = load(&[
        &url,
        "--workload",
        "webstone2",
        "-c",
        "2",
        "--duration",
        "300ms",
        "--json",
        "--out",
        out.to_str().unwrap(),
    ]);
    let summary: Summary = serde_json::from_str(&valid_or_not(&output).0).unwrap();
    assert!(summary.requests > 10 && summary.responses == summary.requests, "{summary:?}");
    assert_eq!(summary.status.keys().collect::<Vec<_>>(), [&200]);
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("</html>"), "the report stands beside the record");
}

/// Stops a long run with `signal` once it has written its first files.
fn interrupted(url: &str, out: &Path, signal: Signal) -> (Option<i32>, String) {
    let mut process = Process::start(
        Command::new(HEADWORKS)
            .args(["load", url, "-c", "2", "--duration", "1h", "--json"])
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
        let (ended, text) = interrupted(&format!("http://{address}/bytes/100"), scratch.path(), signal);
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
fn an_interrupted_run_agrees_with_the_log() {
    let scratch = tempfile::tempdir().unwrap();
    let Some(nginx) = Nginx::start(scratch.path(), "return 200 fine;") else { return };
    let out = scratch.path().join("run");
    interrupted(nginx.url(), &out, Signal::INT);
    let logged = nginx.stop().len();
    let rows = RunDirectory::open(&out).unwrap().requests().unwrap().map(Result::unwrap);
    let sent: Vec<RequestRow> = rows.filter(|row| row.processing_ns.is_some()).collect();
    let cut = sent.iter().filter(|row| row.error == Some(RequestError::Censored)).count();
    assert!(cut <= 2, "two clients have no more than a request each under way: {cut}");
    assert!((sent.len() - cut..=sent.len()).contains(&logged), "{} sent, {logged} logged", sent.len());
    assert!(sent.iter().all(|row| row.error.is_none() || row.error == Some(RequestError::Censored)));
}

#[test]
fn running_out_of_descriptors_is_counted_and_makes_the_run_invalid() {
    let (_server, address) = origin();
    for engine in ["io_uring", "epoll"] {
        let output = Command::new("sh")
            .args(["-c", "ulimit -n 32; exec \"$0\" \"$@\"", HEADWORKS, "load"])
            .arg(format!("http://{address}/burn?cpu=20ms"))
            .args(["-c", "60", "--duration", "500ms", "--quiet", "--json", "--engine", engine])
            .output()
            .unwrap();
        let (text, _) = expect(&output, 4);
        let summary: Summary = serde_json::from_str(&text).unwrap();
        assert!(summary.errors.connect > 0 && summary.responses > 0, "{text}");
        assert!(summary.client.why_invalid.iter().any(|why| why.contains("descriptor")), "{text}");
    }
}
