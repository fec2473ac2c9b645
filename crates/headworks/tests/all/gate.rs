//! `headworks gate` as a process: how it starts, how it stops, what it says when it cannot.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use testkit::{PATIENCE, Process, Raw, free_address, poll_until};

fn gate(arguments: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
    Process::start(command.arg("gate").args(arguments))
}

fn ended(mut gate: Process) -> (Option<i32>, String) {
    let status: ExitStatus = gate.wait();
    (status.code(), gate.rest_of_stderr())
}

#[test]
fn it_works_without_a_configuration_and_stops_when_told() {
    let server = origin::Server::start(&origin::Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..origin::Options::new(origin::Mode::Workers)
    })
    .unwrap();
    let upstream = server.address().to_string();
    let mut gate = gate(&["--listen", "127.0.0.1:0", "--upstream", &upstream]);
    let address = gate.wait_for_address("listening on ");
    let admin = gate.wait_for_address("admin on ");
    let mut client = Raw::connect(address);
    assert_eq!(client.get("/bytes/3").response().body.len(), 3);
    assert!(Raw::connect(admin).get("/metrics").response().text().contains("headworks_gate_window"));
    // The request in hand is finished; the idle connection is closed.
    let mut busy = Raw::connect(address);
    busy.get("/burn?cpu=300ms");
    poll_until(PATIENCE, "the request to be in service", || {
        let state = Raw::connect(admin).get("/api/v1/state").response();
        state.text().contains("\"in_service\":1").then_some(())
    });
    assert_eq!(gate.terminate().code(), Some(143));
    assert_eq!(busy.response().status, 200);
    assert_eq!(client.until_closed(), b"");
}

#[test]
fn check_says_ok_or_what_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("gate.toml");
    let path = file.to_str().unwrap();
    fs::write(&file, "listen = '127.0.0.1:0'\nupstream = '127.0.0.1:1'\n").unwrap();
    let mut good = gate(&["check", path]);
    assert_eq!(good.wait_for_line(&format!("{path}: ")), "ok");
    assert_eq!(ended(good).0, Some(0));

    fs::write(&file, "listen = '127.0.0.1:0'\nupstream = '127.0.0.1:1'\nfavor = 1\n").unwrap();
    let message = format!("headworks: {path}:3: unknown key \"favor\"; did you mean \"favour\"?\n");
    assert_eq!(ended(gate(&["check", path])), (Some(2), message.clone()));
    assert_eq!(ended(gate(&["--config", path])), (Some(2), message));

    fs::write(&file, "listen = '127.0.0.1:0'\nupstream = 'no-such-host.invalid:1'\n").unwrap();
    assert_eq!(ended(gate(&["check", path])).0, Some(2));
    assert_eq!(ended(gate(&["check", "--offline", path])).0, Some(0));
}

#[test]
fn a_machine_without_ca_certificates_is_told_how_to_check_servers_over_tls() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("gate.toml");
    fs::write(&file, "listen = '127.0.0.1:0'\nupstream = 'https://127.0.0.1:1'\n").unwrap();
    let (path, empty) = (file.to_str().unwrap(), directory.path().join("none.pem"));
    fs::write(&empty, "").unwrap();
    let without = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
        let command = command.env("SSL_CERT_FILE", &empty).env_remove("SSL_CERT_DIR");
        ended(Process::start(command.arg("gate").args(arguments)))
    };
    let message = format!(
        "headworks: {path}:2: a server speaks TLS, and this machine has no CA certificates to check its own against; \
         install them (Debian has them in ca-certificates), or name a file with ca-file in [upstream]\n"
    );
    assert_eq!(without(&["check", path]), (Some(2), message.clone()));
    assert_eq!(without(&["--config", path]), (Some(2), message));
}

#[test]
fn what_is_missing_or_taken_is_named() {
    let (code, message) = ended(gate(&[]));
    assert_eq!(code, Some(2));
    assert!(message.contains("--upstream host:port"), "{message}");
    let (code, message) = ended(gate(&["--upstream", "nowhere"]));
    assert_eq!(code, Some(2));
    assert!(message.contains("give host and port"), "{message}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, message) = ended(gate(&["--listen", &address, "--upstream", "127.0.0.1:1"]));
    assert_eq!(code, Some(1));
    assert!(message.contains(&format!("cannot listen on {address}: Address already in use")), "{message}");
}

#[test]
fn more_clients_than_descriptors_do_not_end_it() {
    let program = env!("CARGO_BIN_EXE_headworks");
    let script = format!("ulimit -n 90; exec {program} gate --listen 127.0.0.1:0 --upstream 127.0.0.1:1");
    let mut gate = Process::start(Command::new("sh").args(["-c", &script]));
    let address = gate.wait_for_address("listening on ");
    let clients: Vec<_> = (0..60).map(|_| Raw::connect(address)).collect();
    let mut slow: Vec<_> = (0..20).map(|_| Raw::connect(address)).collect();
    for client in &mut slow {
        client.send("GET / HTTP/1.1\r\nHo");
    }
    // Connections without a request make room, after a while even those with half of one.
    poll_until(PATIENCE, "a request to get through to where no server is", || {
        let status = Raw::connect(address).get("/").response().status;
        assert!([502, 503].contains(&status), "{status}");
        (status == 502).then_some(())
    });
    drop(clients);
    assert_eq!(gate.terminate().code(), Some(143));
}

#[test]
fn explain_names_the_rule() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("gate.toml");
    let path = file.to_str().unwrap();
    let rules = "[[rule]]\nclass = 'premium'\npath = '/checkout/'\n[[rule]]\nclass = 'premium'\ncookie = 'tier=premium'\n";
    fs::write(&file, format!("listen = '127.0.0.1:0'\nupstream = '127.0.0.1:1'\n{rules}")).unwrap();
    for (request, answer) in [
        ("GET /checkout/pay HTTP/1.1\nHost: shop", "class premium: rule 1 matches first"),
        ("POST /\r\nCookie: a=b; tier=premium", "class premium: rule 2 matches first"),
        ("GET /", "class basic: no rule matches, so it is of the last class"),
    ] {
        let mut explained = gate(&["explain", path, "--request", request]);
        assert_eq!(explained.wait_for_line("class "), answer["class ".len()..]);
        assert_eq!(ended(explained).0, Some(0));
    }
    let (code, message) = ended(gate(&["explain", path, "--request", "nonsense"]));
    assert_eq!(code, Some(2));
    assert!(message.contains("\"nonsense\" is no part of a request"), "{message}");
}

/// The writing end of a pipe whose reader has gone.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_reader_that_has_read_enough_is_no_reason_to_panic() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("gate.toml");
    fs::write(&file, "listen = '127.0.0.1:0'\nupstream = '127.0.0.1:1'\n").unwrap();
    let path = file.to_str().unwrap();
    for arguments in [&["check", path][..], &["schema"], &["explain", path, "--request", "GET /"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
        let ended = command.arg("gate").args(arguments).stdout(unread()).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.starts_with("headworks: cannot write to standard output: "), "{arguments:?}: {said}");
    }
}

/// A program without a reader of what it says; killed when dropped.
struct Unheard(Child);

impl Drop for Unheard {
    fn drop(&mut self) {
        // Fails only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_gate_that_nobody_listens_to_serves_all_the_same() {
    let [address, admin, nowhere] = [(); 3].map(|()| free_address());
    let mut command = Command::new(env!("CARGO_BIN_EXE_headworks"));
    command.args(["gate", "--listen", &address.to_string(), "--admin", &admin.to_string()]);
    command.args(["--upstream", &nowhere.to_string()]).stdout(unread()).stderr(unread());
    let mut gate = Unheard(command.spawn().unwrap());
    let connected = |to: SocketAddr| poll_until(PATIENCE, "the gate", || TcpStream::connect(to).ok());
    connected(address);
    // It mentions that the server is not there, what an operator does, and that there is no file.
    assert_eq!(Raw::connect(address).get("/").response().status, 502);
    let patch = "PATCH /api/v1/knobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(Raw::connect(admin).send(patch).response().status, 200);
    let pid = Pid::from_child(&gate.0);
    kill_process(pid, Signal::HUP).unwrap();
    let refused = "headworks_gate_reloads_total{result=\"refused\"} 1";
    poll_until(PATIENCE, "the signal to be obeyed", || {
        Raw::connect(admin).get("/metrics").response().text().contains(refused).then_some(())
    });
    assert_eq!(Raw::connect(address).get("/").response().status, 502);
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(gate.0.wait().unwrap().code(), Some(143));
}
