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
