//! Access logs that `headworks load` replays: from files and standard input, in formats recognised and given.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};

use record::Summary;
use testkit::Process;

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

fn origin() -> (Process, SocketAddr) {
    Process::origin(HEADWORKS, &["--workers", "64"])
}

fn load(arguments: &[&str]) -> Output {
    Command::new(HEADWORKS).arg("load").args(arguments).output().unwrap()
}

/// Whether the machine was quiet enough for a valid run is not what these tests are about.
#[track_caller]
fn valid_or_not(output: &Output) -> (String, String) {
    let out = String::from_utf8(output.stdout.clone()).unwrap();
    let err = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(matches!(output.status.code(), Some(0 | 4)), "stdout: {out}\nstderr: {err}");
    (out, err)
}

#[test]
fn an_access_log_is_replayed() {
    let (_server, address) = origin();
    let scratch = tempfile::tempdir().unwrap();
    let log = scratch.path().join("access.log");
    let line =
        |second: u32, rest: &str| format!("10.0.0.1 - - [10/Oct/2000:13:55:{second:02} +0000] {rest}\n");
    let text = [
        line(0, "\"GET /bytes/100 HTTP/1.1\" 200 100"),
        line(1, "\"HEAD /bytes/200 HTTP/1.1\" 200 0"),
        line(1, "\"POST /form HTTP/1.1\" 200 10"),
        "no line of a log\n".to_owned(),
        line(2, "\"GET /bytes/300 HTTP/1.1\" 200 300"),
        line(50, "\"GET /bytes/400 HTTP/1.1\" 200 400"),
    ];
    std::fs::write(&log, text.concat()).unwrap();
    let (url, workload) = (format!("http://{address}"), format!("trace:{}", log.display()));
    let replay = |options: &[&str]| {
        valid_or_not(&load(&[&[&url, "--workload", &workload, "--stretch", "0.02"], options].concat()))
    };
    let (text, told) = replay(&["--duration", "500ms", "--json"]);
    assert!(told.contains("broken"), "what is left out is told: {told}");
    let summary: Summary = serde_json::from_str(&text).unwrap();
    assert_eq!((summary.requests, summary.responses, summary.bytes), (3, 3, 400), "{text}");

    for (options, says) in [
        (["--duration", "500ms"], "of which the first 500ms of 1.0s are replayed (--duration 2s for all)"),
        (["--duration", "1.5s"], "which is repeated after 1.0s"),
        (["-n", "9"], "which is repeated"),
    ] {
        let (out, told) = replay(&options);
        assert!((out.clone() + &told).contains(says), "{options:?}: {out}{told}");
    }
}

#[test]
fn logs_come_from_several_files_from_standard_input_and_in_a_format_that_is_given() {
    let (_server, address) = origin();
    let url = format!("http://{address}");
    let scratch = tempfile::tempdir().unwrap();
    let line = |second: u32, length: u32| {
        format!(
            "{{\"msec\":\"17000000{second:02}.500\",\"host\":\"www.example.org\",\"request\":\"GET /bytes/{length} HTTP/1.1\",\"status\":\"200\"}}\n"
        )
    };
    let file = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (old, new) = (file("access.log.1", &line(1, 100)), file("access.log", &(line(2, 200) + "{\"cut\"")));
    let once = ["-c", "1", "-n", "2", "--json", "--duration", "5s"];
    let workload = |name: &str| ["--workload".to_owned(), format!("trace:{name}")];
    let bytes_of = |output: &Output| {
        let (text, told) = valid_or_not(output);
        (serde_json::from_str::<Summary>(&text).unwrap().bytes, told)
    };
    let run = |name: &str, more: &[&str]| {
        let [option, value] = workload(name);
        load(&[&[url.as_str(), &option, &value], &once[..], more].concat())
    };
    let (bytes, told) = bytes_of(&run(&format!("{new},{old}"), &[]));
    assert_eq!(bytes, 300);
    assert!(told.contains("access.log, line 2: cut off"), "{told}");
    assert!(told.contains("2 requests for 2 URLs of 1 host") && told.contains("read as JSON"), "{told}");
    let [option, value] = workload(&new);
    let (shown, _) = valid_or_not(&load(&[&url, &option, &value, "-c", "1", "-n", "2", "--duration", "5s"]));
    assert!(shown.contains("trace of 1 requests for 1 host, "), "{shown}");

    let mut command = Command::new(HEADWORKS);
    command.args(["load", &url]).args(workload("-")).args(once).stdin(Stdio::piped());
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    process.stdin.take().unwrap().write_all((line(1, 300) + &line(2, 400)).as_bytes()).unwrap();
    assert_eq!(bytes_of(&process.wait_with_output().unwrap()).0, 700);

    let given = file("given.log", "1700000001.5 /bytes/5 GET\n1700000002.5 /bytes/6 GET\n");
    let format = ["--log-format", "$msec $request_uri $request_method"];
    assert_eq!(bytes_of(&run(&given, &format)).0, 11);
}
