//! `headworks lab serve` as a process.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::process::Command;

use testkit::{Process, Raw};

const SPEC: &str = "
[experiment]
title = \"One\"
[server]
kind = \"origin\"
cpus = \"0\"
[client]
cpus = \"0\"
[workload]
file = \"workload.toml\"
[[factor]]
name = \"load\"
levels = [1]
[design]
subjects = [\"bare\"]
[capacity]
rate = 1
[test]
warmup = \"1s\"
duration = \"1s\"
";

#[test]
fn the_server_of_a_spec_serves_until_it_is_ended() {
    let place = tempfile::tempdir().unwrap();
    let spec = place.path().join("spec.toml");
    fs::write(&spec, SPEC).unwrap();
    fs::write(place.path().join("workload.toml"), "kind = \"sessions\"\n[[page]]\nurl = \"/bytes/600\"\n")
        .unwrap();
    let mut command = Command::new(crate::HEADWORKS);
    let mut server = Process::start(command.args(["lab", "serve"]).arg(&spec));
    let address = server.wait_for_address("listening on ");
    let response = Raw::connect(address).get("/bytes/600").response();
    assert_eq!((response.status, response.body.len()), (200, 600));
    assert_eq!(server.terminate().code(), Some(143), "{}", server.rest_of_stderr());
    assert!(std::net::TcpStream::connect(address).is_err(), "its server is gone");
    let wrong = Command::new(crate::HEADWORKS)
        .args(["lab", "serve", "--set", "server.kind=apach"])
        .arg(&spec)
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{}", String::from_utf8_lossy(&wrong.stderr));
}
