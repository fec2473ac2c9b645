//! Requests that come to unix sockets.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Command;

use record::RunDirectory;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;
use testkit::{PATIENCE, Process, poll_until};

/// By its path, and by the process that listens there and at no port.
#[test]
fn requests_at_a_unix_socket_are_counted() {
    if !geteuid().is_root() {
        testkit::skip(&"only root may load programs");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("socket");
    let program = "import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
while True:
    client, _ = listener.accept()
    while client.recv(4096):
        client.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\n')
        client.sendall(b'done\\n')
";
    let server = Process::start(Command::new("python3").args(["-c", program]).arg(&path));
    let mut client = poll_until(PATIENCE, "the server to listen", || UnixStream::connect(&path).ok());
    let pid = server.id().to_string();
    for arguments in [["--socket", path.to_str().unwrap()], ["--pid", &pid]] {
        let mut watch = Command::new(env!("CARGO_BIN_EXE_headworks"));
        watch.args(["watch", "--interval", "300ms"]).args(arguments);
        let out = place.path().join(arguments[0]);
        let mut watch = Process::start(watch.arg("--out").arg(&out));
        watch.wait_for_line("  user%");
        for _ in 0..7 {
            client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            let (mut response, mut piece) = (Vec::new(), [0; 4096]);
            while !response.ends_with(b"done\n") {
                let length = client.read(&mut piece).unwrap();
                assert!(length > 0);
                response.extend_from_slice(&piece[..length]);
            }
        }
        watch.wait_for_line("        0-50k");
        kill_process(Pid::from_raw(watch.id() as i32).unwrap(), Signal::INT).unwrap();
        assert_eq!(watch.wait().code(), Some(130));
        let said: Value = RunDirectory::open(&out).unwrap().outcome().unwrap();
        let requests = &said["requests"]["0-50k"];
        assert_eq!((&requests["count"], &requests["status"]["2xx"]), (&7.into(), &7.into()), "{said}");
        assert_eq!(said["followed"]["protocols"]["http/1"], 1, "{said}");
        assert!(out.join("report.html").is_file());
    }
}
