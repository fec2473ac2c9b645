//! `headworks watch` and `headworks doctor` from the command line.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::process::{Command, Output};

use record::{RunDirectory, Viewpoint};
use rustix::process::geteuid;
use serde_json::Value;

fn headworks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headworks")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_watch_says_what_the_machine_and_a_program_used_and_writes_it_down() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let arguments = ["watch", "--program", "headworks,no-such-program", "--interval", "100ms"];
    let rest = ["--duration", "550ms", "--json", "--out", out.to_str().unwrap()];
    let said = json(&headworks(&[&arguments[..], &rest].concat()));
    let shares = ["cpu_user", "cpu_system", "cpu_interrupt", "cpu_soft_interrupt", "cpu_stolen"];
    let shares = shares.into_iter().chain(["cpu_io_wait", "cpu_idle"]);
    let sum: f64 = shares.map(|name| said["kernel"][name].as_f64().unwrap()).sum();
    assert!((0.8..1.2).contains(&sum), "all of the processors: {sum}");
    assert!(said["kernel"]["context_switches"].as_f64().unwrap() > 0.0);
    assert_eq!(said["processes"]["headworks"]["processes"].as_u64().map(|count| count > 0), Some(true));
    assert!(said["processes"]["headworks"]["memory"].as_u64().unwrap() > 100_000);
    assert_eq!(said["processes"]["no-such-program"]["processes"], 0);
    assert!(said["network"]["lo"]["received_bytes"].as_f64().unwrap() >= 0.0);
    let looks = said["overhead"]["sample_cost"]["count"].as_u64().unwrap() as usize;
    assert!((1..=6).contains(&looks), "five whole intervals and the rest, if the machine keeps up: {looks}");

    let directory = RunDirectory::open(&out).unwrap();
    let info = directory.info().unwrap();
    assert_eq!((info.tool.as_str(), info.interrupted), ("watch", false));
    assert_eq!(directory.outcome::<Value>().unwrap(), said);
    let rows: Vec<_> = directory.samples().unwrap().map(Result::unwrap).collect();
    let idle = rows.iter().filter(|row| &*row.metric == "kernel.cpu_idle");
    assert_eq!(idle.count(), looks);
    let own = rows.iter().filter(|row| (&*row.metric, &*row.label) == ("processes.cpu", "headworks"));
    assert!(own.clone().all(|row| row.viewpoint == Viewpoint::Server) && own.count() == looks);
}

#[test]
fn programs_in_the_kernel_are_said_to_work_or_why_not() {
    let doctor = headworks(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(0));
    let said = text(&doctor.stdout);
    if geteuid().is_root() {
        assert_eq!(said.lines().filter(|line| line.starts_with("works ")).count(), 4, "{said}");
    } else {
        println!("skipped: that programs work, since only root may load them");
        assert!(said.contains("missing ") && said.contains("run it as root"), "{said}");
    }
}

#[test]
fn a_port_is_watched() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _waiting = [(); 3].map(|()| std::net::TcpStream::connect(address).unwrap());
    let port = address.port().to_string();
    let said = json(&headworks(&["watch", "--port", &port, "--duration", "200ms", "--json"]));
    assert_eq!((&said["connections"]["LISTEN"], &said["connections"]["ESTAB"]), (&1.into(), &3.into()));
    assert_eq!(said["listen_queues"][&port]["waiting"], 3);
    assert!(!geteuid().is_root() || said["listen_queues"][&port]["room"] == 128, "{said}");
}

/// A reader who has read enough ends a watch, and the record is whole all the same.
#[test]
fn a_broken_pipe_ends_the_record() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let binary = env!("CARGO_BIN_EXE_headworks");
    let script =
        format!("'{binary}' watch --interval 20ms --duration 60s --out '{}' | head -n 3", out.display());
    let status = Command::new("sh").args(["-c", &script]).output().unwrap().status;
    assert!(status.success(), "head's own");
    let directory = RunDirectory::open(&out).unwrap();
    let info = directory.info().unwrap();
    assert!(info.interrupted && info.ended.is_some());
    assert!(directory.samples().unwrap().map(Result::unwrap).count() > 0);
    assert!(directory.outcome::<Value>().unwrap()["kernel"].is_object());
}

/// Somebody whom the kernel does not let load programs.
#[test]
fn without_privileges_proc_stands_in() {
    if !geteuid().is_root() {
        println!("skipped: only root can become somebody else");
        return;
    }
    let binary = env!("CARGO_BIN_EXE_headworks");
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("headworks");
    std::fs::copy(binary, &copy).unwrap();
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--clear-groups"])
        .arg(&copy)
        .args(["watch", "--program", "headworks", "--duration", "200ms", "--json"])
        .output()
        .unwrap();
    let said = json(&output);
    assert!(text(&output.stderr).contains("kernel: /proc, because of"), "{}", text(&output.stderr));
    assert!(said["processes"]["headworks"]["processes"].as_u64().unwrap() > 0);
}

#[test]
fn costs_are_told_for_both_ways() {
    let said = json(&headworks(&["watch", "--program", "headworks", "--costs", "--json"]));
    for group in ["kernel", "processes", "connections"] {
        assert!(said[group]["proc"]["median"].as_f64().unwrap() > 0.0, "{said}");
        assert!(!geteuid().is_root() || said[group]["ebpf"]["median"].as_f64().unwrap() > 0.0, "{said}");
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let many = (0..17).map(|number| format!("p{number}")).collect::<Vec<_>>().join(",");
    for (arguments, why) in [
        (["--interval", "1ms"], "at least 10ms"),
        (["--program", many.as_str()], "at most 16"),
        (["--interval", "soon"], "soon"),
        (["--duration", "0s"], "more than nothing"),
        (["--program", "nginx,nginx"], "are there before"),
        (["--program", "fifteen-letters-1,fifteen-letters-2"], "the first 15 bytes"),
        (["--program", "a,,b"], "is empty"),
        (["--port", "70000"], "70000"),
    ] {
        let output = headworks(&[&["watch"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
}

#[test]
fn an_interrupted_watch_keeps_what_it_has() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let output = Command::new("timeout")
        .args(["--signal=INT", "2", env!("CARGO_BIN_EXE_headworks"), "watch"])
        .args(["--interval", "100ms", "--json", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(124), "timeout's own: {}", text(&output.stderr));
    let directory = RunDirectory::open(&out).unwrap();
    assert!(directory.info().unwrap().interrupted);
    assert_eq!(
        directory.outcome::<Value>().unwrap(),
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    );
}
