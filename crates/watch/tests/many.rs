//! More processes than a server has on most days.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use watch::{Source as _, processes};

/// A process group of ours, killed when it is dropped.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// Two thousand processes of one name.
#[test]
fn thousands_of_processes() {
    if !geteuid().is_root() {
        testkit::skip(&"only root may load programs");
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let program = place.path().join("headworks-many");
    fs::copy("/bin/sleep", &program).expect("a program");
    let script = "n=0; while [ $n -lt 2000 ]; do \"$0\" 60 & n=$((n + 1)); done; echo; wait";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(&program).process_group(0).stdout(Stdio::piped());
    let mut group = Group(shell.spawn().expect("a shell"));
    let said = BufReader::new(group.0.stdout.take().expect("it is piped"));
    assert!(matches!(said.lines().next(), Some(Ok(_))), "not all of them began");
    let mut traced =
        processes::Traced::open(&["headworks-many"]).expect("this runs as root on a kernel with BTF");
    let mut proc = processes::Proc::open(&["headworks-many"]);
    // The last of them are still the shell's.
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut counts = [0; 2];
    while counts != [2000; 2] && Instant::now() < deadline {
        sleep(Duration::from_millis(50));
        counts = [
            traced.sample().expect("eBPF").programs[0].processes,
            proc.sample().expect("/proc").programs[0].processes,
        ];
    }
    assert_eq!(counts, [2000; 2], "eBPF, /proc");
}
