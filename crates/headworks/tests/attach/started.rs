//! `headworks attach`: it ends as the server does, which it starts.

use std::process::Command;

use testkit::{Process, Raw};

use crate::servers::Server;

#[test]
fn it_ends_as_the_server_does() {
    let status = |script: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
        command.args(["attach", "--", "sh", "-c", script]).status().unwrap().code()
    };
    assert_eq!([status("exit 0"), status("exit 7"), status("kill -TERM $$")], [Some(0), Some(7), Some(143)]);
    let mut missing = Command::new(env!("CARGO_BIN_EXE_headworks"));
    assert_eq!(missing.args(["attach", "--", "no-such-program"]).status().unwrap().code(), Some(1));
}

#[test]
fn it_starts_a_server_and_ends_it() {
    let server = Server::nginx(1, "");
    let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
    command.args(["attach", "--"]).args(&server.command);
    let mut attached = Process::listening(&mut command, server.address);
    let response = Raw::connect(server.address).get(Server::FAST).response();
    assert!(response.head.contains("Set-Cookie: headworks="), "{}", response.head);
    assert_eq!(attached.terminate().code(), Some(0), "as nginx does when it is told to end");
}

/// What systemd reads, and what the user is told.
#[test]
fn a_service_is_attached_by_a_drop_in() {
    let directory = tempfile::tempdir().unwrap();
    let [units, library] = ["units", "lib/shim.so"].map(|name| directory.path().join(name));
    let unit = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
        command
            .args(["attach", "--unit", name, "--unit-directory"])
            .arg(&units)
            .arg("--library")
            .arg(&library);
        command.output().unwrap()
    };
    let said = unit("apache2");
    assert!(said.status.success(), "{said:?}");
    let file = units.join("apache2.service.d/headworks-attach.conf");
    let text = std::fs::read_to_string(&file).unwrap();
    let preload = format!("\"LD_PRELOAD={}\"", library.display());
    assert!(text.contains("[Service]") && text.contains(&preload), "{text}");
    assert!(std::fs::metadata(&library).unwrap().len() > 10_000);
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains(&format!("rm {}", file.display())), "{said}");
    assert_eq!(unit("../etc").status.code(), Some(1));
}

#[test]
fn a_check_says_what_cannot_be_decided() {
    let server = Server::nginx(1, "");
    let file = server.directory.path().join("gate.toml");
    std::fs::write(&file, "attach = true\nattach-socket = 'attach.sock'\n").unwrap();
    let mut check = Command::new(env!("CARGO_BIN_EXE_headworks"));
    let output = check.args(["gate", "check"]).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("attach.sock") && said.contains("over TLS"), "{said}");
}
