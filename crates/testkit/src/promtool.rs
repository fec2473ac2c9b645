//! Prometheus' own checker of metrics and of rules.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::skip;

/// Panics with what `promtool` finds wrong with the metrics of an exposition.
#[track_caller]
pub fn check_metrics(exposition: &str) {
    check(&["metrics"], exposition);
}

/// Panics with what `promtool` finds wrong with a file of rules.
#[track_caller]
pub fn check_rules(file: &Path) {
    check(&["rules", &file.display().to_string()], "");
}

#[track_caller]
fn check(arguments: &[&str], input: &str) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/bin/promtool");
    if !program.is_file() {
        return skip(&"promtool is not there; install it with: tools/need promtool");
    }
    let mut promtool = Command::new(program)
        .arg("check")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool starts");
    promtool.stdin.take().expect("it is read from").write_all(input.as_bytes()).expect("it reads");
    let output = promtool.wait_with_output().expect("it ends");
    let found = [output.stderr, output.stdout].concat();
    let found = String::from_utf8_lossy(&found);
    assert!(output.status.success(), "promtool {arguments:?}: {found}");
}
