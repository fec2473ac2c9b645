//! `headworks gate` as root and systemd start it.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};

use crate::common::{Site, signal};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use testkit::{PATIENCE, Process, Raw, poll_until};

/// A line of proc_pid_status(5).
fn status(gate: &Process, name: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{}/status", gate.id())).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn root_becomes_somebody_else_for_good() {
    if !geteuid().is_root() {
        testkit::skip(&"only root can become somebody else");
        return;
    }
    let site = Site::new();
    site.configure("[operation]\nuser = 'nobody'\ngroup = 'daemon'\ncontrol = 'gate.sock'\n[client]\ndrain-timeout = '1s'");
    let mut first = site.start();
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let nobody = passwd.lines().find(|line| line.starts_with("nobody:")).unwrap();
    let uid = nobody.split(':').nth(2).unwrap();
    assert_eq!(status(&first, "Uid:"), [uid; 4], "real, effective, saved and of the file system");
    let groups = fs::read_to_string("/etc/group").unwrap();
    let gid = groups.lines().find(|line| line.starts_with("daemon:")).unwrap().split(':').nth(2).unwrap();
    assert_eq!(status(&first, "Gid:"), [gid; 4]);
    assert_eq!(status(&first, "Groups:"), [gid], "no group of root's is left");
    assert_eq!(status(&first, "NoNewPrivs:"), ["1"]);
    assert_eq!(status(&first, "CapEff:"), ["0000000000000000"]);
    assert_eq!(status(&first, "CapPrm:"), ["0000000000000000"]);
    assert_eq!(Raw::connect(site.address).get("/bytes/5").response().status, 200);
    // The next one, started by root, gets the sockets as well.
    let _second = site.start();
    assert_eq!(first.wait().code(), Some(0));
}

#[test]
fn nobody_else_can_and_an_unknown_user_is_named() {
    let site = Site::new();
    site.configure("[operation]\nuser = 'no-such-user'");
    let mut gate = Process::start(&mut site.command());
    assert_eq!(gate.wait().code(), Some(1));
    assert!(gate.rest_of_stderr().contains("there is no user \"no-such-user\" on this machine"));
    if geteuid().is_root() {
        site.configure("[operation]\nuser = 'root'");
        let mut gate = Process::start(&mut site.command());
        assert_eq!(gate.wait().code(), Some(1));
        assert!(gate.rest_of_stderr().contains("root's rights can still be had back"));
    }
}

#[test]
fn strangers_do_not_get_the_sockets() {
    if !geteuid().is_root() {
        testkit::skip(&"only root can be two users");
        return;
    }
    let site = Site::new();
    site.configure("[operation]\ncontrol = 'gate.sock'");
    fs::set_permissions(site.directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let _gate = site.start();
    // Even if somebody opens the file to all.
    assert_eq!(fs::metadata(site.path("gate.sock")).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(site.path("gate.sock"), fs::Permissions::from_mode(0o666)).unwrap();
    let script = "printf 'take over 1\\n' | timeout 5 python3 -c \
        'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.stdin.buffer.read()); print(len(s.recvmsg(1, 4096)[1]))' \"$0\"";
    let asked = Command::new("setpriv")
        .args(["--reuid=nobody", "--clear-groups", "sh", "-c", script])
        .arg(site.path("gate.sock"))
        .output();
    let Ok(asked) = asked else {
        testkit::skip(&"there is no setpriv");
        return;
    };
    assert!(!String::from_utf8_lossy(&asked.stdout).starts_with('1'), "{asked:?}");
    assert_eq!(Raw::connect(site.address).get("/bytes/5").response().status, 200);
}

/// A gate started as systemd does it, with sockets from descriptor 3 on. Killed when dropped.
struct Activated(Child);

impl Activated {
    fn start(site: &Site, names: &str, sockets: [TcpListener; 2], notify: &str) -> Self {
        let [first, second] = sockets.map(|socket| Stdio::from(OwnedFd::from(socket)));
        // What the shell inherits as 0 and 2 becomes 3 and 4, and its process that of the gate.
        let script = "exec 3<&0 4<&2 </dev/null 2>/dev/null; \
            export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=\"$0\"; exec \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, names]).arg(env!("CARGO_BIN_EXE_headworks"));
        command.args(["gate", "--config"]).arg(site.path("gate.toml"));
        command.env("NOTIFY_SOCKET", notify).stdin(first).stderr(second).stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    fn lines(&mut self) -> Vec<String> {
        let stdout = self.0.stdout.take().unwrap();
        BufReader::new(stdout).lines().take(2).map(Result::unwrap).collect()
    }
}

impl Drop for Activated {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn sockets_of_systemd_are_taken_and_it_is_told_how_the_gate_is() {
    for names in ["listen:admin", "headworks.socket:headworks.socket"] {
        let site = Site::new();
        let manager = UnixDatagram::bind(site.path("notify")).unwrap();
        manager.set_read_timeout(Some(PATIENCE)).unwrap();
        let told = || {
            let mut text = [0; 1024];
            let length = manager.recv(&mut text).unwrap();
            String::from_utf8_lossy(&text[..length]).into_owned()
        };
        let sockets = [site.address, site.admin].map(|address| TcpListener::bind(address).unwrap());
        // By name they are taken wherever they listen, otherwise by where they do.
        if names.starts_with("listen") {
            site.configure("").elsewhere();
        } else {
            site.configure("");
        }
        let mut gate = Activated::start(&site, names, sockets, site.path("notify").to_str().unwrap());
        let ready = told();
        assert!(ready.contains("READY=1"), "{ready}");
        let lines = gate.lines();
        assert_eq!(lines[0], format!("listening on http://{}", site.address));
        assert_eq!(lines[1], format!("admin on http://{}", site.admin));
        assert_eq!(Raw::connect(site.address).get("/bytes/5").response().status, 200);
        let pid = Pid::from_child(&gate.0);
        kill_process(pid, Signal::HUP).unwrap();
        let reloading = told();
        assert!(reloading.contains("RELOADING=1") && reloading.contains("MONOTONIC_USEC="), "{reloading}");
        assert!(told().contains("READY=1"));
        kill_process(pid, Signal::TERM).unwrap();
        assert!(told().contains("STOPPING=1"));
        let status = poll_until(PATIENCE, "the gate to end", || gate.0.try_wait().unwrap());
        assert_eq!(status.code(), Some(143));
    }
}

#[test]
fn a_connection_that_waits_with_systemd_is_served() {
    let site = Site::new();
    site.configure("");
    let listener = TcpListener::bind(site.address).unwrap();
    // As between two runs of a service: connections are not accepted, and none is refused.
    let mut early = Raw::connect(site.address);
    early.get("/bytes/5");
    let admin = TcpListener::bind(site.admin).unwrap();
    let mut gate = Activated::start(&site, "listen:admin", [listener, admin], "/nowhere");
    assert_eq!(early.response().status, 200);
    assert_eq!(gate.lines().len(), 2);
}

#[test]
fn draining_lets_balancers_go_first() {
    let site = Site::new();
    site.configure("[operation]\ndrain-delay = '3s'");
    let mut gate = site.start();
    let ready = || Raw::connect(site.admin).get("/readyz").response().status;
    assert_eq!(ready(), 200);
    let mut kept = Raw::connect(site.address);
    assert_eq!(kept.get("/bytes/1").response().header("connection"), None);
    signal(&gate, Signal::TERM);
    poll_until(PATIENCE, "the gate not to be ready", || (ready() == 503).then_some(()));
    assert_eq!(kept.get("/bytes/2").response().header("connection"), Some("close"));
    // Who has not seen it yet is served.
    assert_eq!(Raw::connect(site.address).get("/bytes/3").response().status, 200);
    assert_eq!(gate.wait().code(), Some(143));
}

#[test]
fn an_operator_can_send_clients_elsewhere_and_back() {
    let site = Site::new();
    let _gate = site.configure("").start();
    let ask = |method: &str, path: &str| {
        let host = site.admin;
        Raw::connect(host)
            .send(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n"))
            .response()
    };
    assert_eq!(ask("POST", "/api/v1/drain").text(), "{\"ready\":false}\n");
    assert_eq!(ask("GET", "/readyz").status, 503);
    let closed = Raw::connect(site.address).get("/bytes/1").response();
    assert_eq!((closed.status, closed.header("connection")), (200, Some("close")));
    assert_eq!(ask("DELETE", "/api/v1/drain").text(), "{\"ready\":true}\n");
    assert_eq!(Raw::connect(site.address).get("/bytes/1").response().header("connection"), None);
    site.configure("window = 7");
    assert_eq!(ask("POST", "/api/v1/reload").text(), "{\"changed\":[\"window\"]}\n");
    site.configure("windw = 7");
    let refused = ask("POST", "/api/v1/reload");
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("gate.toml:4: unknown key"), "{}", refused.text());
}
