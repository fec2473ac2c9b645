//! Options of `headworks load` that would have no effect are refused, not ignored.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::process::Command;

#[track_caller]
fn check_refused(arguments: &[&str], says: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_headworks"))
        .args(["load", "http://127.0.0.1:1/", "--duration", "1ms", "--quiet"])
        .args(arguments)
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert!(error.contains(says), "{arguments:?}: {error}");
}

#[test]
fn options_for_traces_need_a_trace() {
    check_refused(&["--stretch", "2"], "--stretch is for the times of a trace");
    check_refused(&["--whole-seconds"], "--workload");
    check_refused(&["--log-format", "json"], "--log-format is for a log");
    check_refused(&["--log-format", "$msec", "--workload", "trace:x"], "the format has no request");
    check_refused(
        &["--arrivals", "trace:-", "--workload", "trace:-"],
        "standard input can be read once only",
    );
    check_refused(&["--whole-seconds", "--workload", "surge"], "--whole-seconds is for the replay of a log");
}

#[test]
fn content_can_only_be_expected_of_a_model() {
    check_refused(&["--expect-content"], "--workload");
}

#[test]
fn clients_that_cannot_wait_are_not_told_to() {
    check_refused(&["--ramp", "1:2:1:1s", "--think", "1s"], "--think is for the clients of a closed loop");
    check_refused(&["--pipeline", "4", "--think", "1s"], "have no --pipeline");
}

#[test]
fn only_sessions_of_a_closed_loop_are_told_to_pause() {
    check_refused(&["--pauses"], "--workload");
    check_refused(&["--pauses", "--workload", "surge"], "--pauses is for sessions in a closed loop");
    check_refused(&["--pauses", "--workload", "surge", "--rate", "3"], "cannot be used with");
}

#[test]
fn a_connection_for_one_request_has_no_pipeline() {
    check_refused(&["--pipeline", "4", "--http", "1.0"], "--requests-per-connection");
}

#[test]
fn only_requests_that_stand_alone_have_a_limit_of_connections() {
    let banking = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/workloads/banking.toml");
    check_refused(&["--rate", "10", "-c", "4", "--workload", banking], "sessions have their own");
    check_refused(&["--rate", "10", "-c", "1", "--threads", "2"], "at least --threads");
    check_refused(&["--ramp", "1:2:1:1s", "--closed", "-c", "4"], "--connections");
}

#[test]
fn each_export_has_a_file_of_its_own() {
    let two = ["--latency-csv", "a.csv", "--requests-csv", "a.csv"];
    check_refused(&two, "--latency-csv and --requests-csv are both to be written into a.csv");
    check_refused(&["--requests-csv", "-"], "is standard output, where the summary goes");
}
