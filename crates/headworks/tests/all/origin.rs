//! `headworks origin` as a process: how it starts, ends and fails.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;

use testkit::{PATIENCE, Process, Raw, open_descriptors, poll_until};

fn origin(arguments: &[&str]) -> Process {
    Process::start(Command::new(env!("CARGO_BIN_EXE_headworks")).arg("origin").args(arguments))
}

#[test]
fn it_says_where_it_listens_and_ends_cleanly() {
    for mode in ["workers", "static"] {
        let mut server = origin(&["--listen", "127.0.0.1:0", "--mode", mode, "--workers", "2"]);
        let address = server.wait_for_address("listening on ");
        let mut client = Raw::connect(address);
        assert_eq!(client.get("/bytes/10").response().body.len(), 10);
        assert_eq!(server.terminate().code(), Some(143));
        assert_eq!(client.until_closed(), b"", "{mode}: the connection ends with the server");
        assert_eq!(server.rest_of_stderr(), "");
    }
}

#[test]
fn an_occupied_port_names_the_mend() {
    let mut first = origin(&["--listen", "127.0.0.1:0"]);
    let address = first.wait_for_address("listening on ");
    let mut second = origin(&["--listen", &address.to_string()]);
    assert_eq!(second.wait().code(), Some(1));
    let expected = format!(
        "headworks: cannot listen on {address}: address already in use; choose another with --listen\n"
    );
    assert_eq!(second.rest_of_stderr(), expected);
}

#[test]
fn a_unix_socket_is_said_where_it_is_and_goes_with_the_server() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("a.txt"), "a file").unwrap();
    let path = scratch.path().join("origin.sock");
    let listen = format!("unix:{}", path.display());
    for mode in ["workers", "static"] {
        let content = scratch.path().to_str().unwrap();
        let mut server = origin(&["--listen", &listen, "--content", content, "--mode", mode]);
        assert_eq!(server.wait_for_line("listening on "), listen);
        let mut client = UnixStream::connect(&path).unwrap();
        client.write_all(b"GET /a.txt HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("a file"), "{mode}: {answer}");
        assert_eq!(server.terminate().code(), Some(143));
        assert!(!path.exists(), "{mode}");
    }
}

#[test]
fn content_that_is_missing_is_named() {
    let mut server = origin(&["--listen", "127.0.0.1:0", "--content", "/nowhere"]);
    assert_eq!(server.wait().code(), Some(1));
    let expected = "headworks: cannot read the content /nowhere: No such file or directory (os error 2)\n";
    assert_eq!(server.rest_of_stderr(), expected);
}

#[test]
fn a_wrong_option_is_a_usage_error() {
    for wrong in [["--workers", "0"], ["--listen", "nowhere"], ["--keep-alive", "soon"], ["--mode", "fast"]] {
        assert_eq!(origin(&wrong).wait().code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn what_is_wrong_with_a_value_is_said() {
    let mut server = origin(&["--workers", "0"]);
    assert_eq!(server.wait().code(), Some(2));
    let why = server.rest_of_stderr();
    assert!(why.contains("'0' for '--workers <N>': must be at least 1"), "{why}");
    let mut server = origin(&["--keep-alive", "5"]);
    assert_eq!(server.wait().code(), Some(2));
    let why = server.rest_of_stderr();
    assert!(why.contains("expected a unit behind the number, such as 30s"), "{why}");
}

#[test]
fn clients_that_vanish_leave_no_descriptor_behind() {
    for mode in ["workers", "static"] {
        let mut server = origin(&["--listen", "127.0.0.1:0", "--mode", mode, "--workers", "2"]);
        let address = server.wait_for_address("listening on ");
        let idle = open_descriptors(server.id());
        for beginning in ["", "GET", "GET /bytes/5000000 HTTP/1.1\r\nHost: a\r\n\r\n", "\0\u{1}\u{2}\r\n\r\n"]
        {
            for _ in 0..50 {
                Raw::connect(address).send(beginning);
            }
        }
        poll_until(PATIENCE, &format!("{mode}: all descriptors to be closed"), || {
            (open_descriptors(server.id()) <= idle).then_some(())
        });
        assert_eq!(Raw::connect(address).get("/healthz").response().status, 200, "{mode}");
    }
}
