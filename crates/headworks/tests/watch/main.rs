//! `headworks watch` and `headworks doctor` from the command line.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod sockets;

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use catalogue::Viewpoint;
use record::{Clock, PhaseName, RunDirectory};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;
use testkit::{Collector, PATIENCE, Process, Raw, poll_until};

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
    let idle = rows.iter().filter(|row| row.metric.as_str() == "kernel.cpu_idle");
    // The last look comes 50 ms after another, which may be too soon to be told.
    let told = idle.count();
    assert!((looks - 1..=looks).contains(&told), "{told} of {looks}");
    let own = rows.iter().filter(|row| (row.metric.as_str(), &*row.label) == ("processes.cpu", "headworks"));
    assert!(own.clone().all(|row| row.viewpoint == Viewpoint::Server) && own.count() == told);
    let mut of_interfaces = rows.iter().filter(|row| row.metric.as_str().starts_with("network.")).peekable();
    assert!(of_interfaces.peek().is_some() && of_interfaces.all(|row| row.viewpoint == Viewpoint::Network));
}

#[test]
fn programs_in_the_kernel_are_said_to_work_or_why_not() {
    let doctor = headworks(&["doctor"]);
    let said = text(&doctor.stdout);
    let told: Value = serde_json::from_slice(&headworks(&["doctor", "--json"]).stdout).unwrap();
    let findings = told["findings"].as_array().unwrap();
    assert!(told["kernel"].as_str().unwrap().contains('.'), "{told}");
    assert!(findings.iter().all(|finding| finding["needs"] != "" && finding["lost"] != ""), "{told}");
    let works = findings.iter().filter(|finding| finding["works"] == true).count();
    assert_eq!(said.lines().filter(|line| line.starts_with("works ")).count(), works, "{said}");
    if geteuid().is_root() {
        assert_eq!((works, doctor.status.code()), (9, Some(0)), "{said}");
    } else {
        testkit::skip(&"that programs work, since only root may load them");
        assert!(said.contains("missing ") && said.contains("run it as root"), "{said}");
        assert!(said.contains("it needs Linux "), "{said}");
        assert_eq!(doctor.status.code(), Some(1));
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

/// Requests to a server that no probe is known for, in JSON and in the record.
#[test]
fn requests_are_followed() {
    if !geteuid().is_root() {
        testkit::skip(&"only root may load programs");
        return;
    }
    let (_server, address) = origin();
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let port = address.port().to_string();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_headworks"));
    watch.args(["watch", "--port", &port, "--budget", "none", "--classes", "10k,100k"]);
    watch.args(["--interval", "500ms"]);
    let mut watch = Process::start(watch.arg("--out").arg(&out));
    // When it has begun, it follows.
    watch.wait_for_line("  user%");
    let mut client = Raw::connect(address);
    for size in [1000, 50_000, 1000, 1000] {
        assert_eq!(client.get(&format!("/bytes/{size}")).response().body.len(), size);
    }
    drop(client);
    watch.wait_for_line("        10k-100k");
    kill_process(Pid::from_raw(watch.id() as i32).unwrap(), Signal::INT).unwrap();
    assert_eq!(watch.wait().code(), Some(130));
    let directory = RunDirectory::open(&out).unwrap();
    let said: Value = directory.outcome().unwrap();
    let requests = &said["requests"];
    assert_eq!(
        (&requests["0-10k"]["count"], &requests["10k-100k"]["count"]),
        (&3.into(), &1.into()),
        "{said}"
    );
    assert!(requests["100k-"].is_null(), "a class without requests is left out");
    for phase in ["parse", "process", "log"] {
        for clock in ["cpu", "elapsed"] {
            assert_eq!(requests["0-10k"]["phases"][phase][clock]["count"], 3, "{said}");
        }
    }
    let used = &requests["0-10k"];
    assert!(used["cpu_user"].as_f64().unwrap() + used["cpu_kernel"].as_f64().unwrap() > 0.0, "{said}");
    assert!(said["demands"]["0-10k"]["cpu_kernel"]["mean"].as_f64().unwrap() > 0.0, "{said}");
    assert_eq!(said["followed"]["unfinished"], 0);
    assert!(said["processes"]["hw-origin"]["processes"].as_u64().unwrap() > 0, "who listens is watched");
    let rows: Vec<_> = directory.phases().unwrap().map(Result::unwrap).collect();
    let of = |class: &str| -> u64 {
        let rows = rows
            .iter()
            .filter(|row| (&*row.class, row.phase, row.clock) == (class, PhaseName::Process, Clock::Cpu));
        rows.map(|row| row.count).sum()
    };
    assert_eq!((of("0-10k"), of("10k-100k"), of("100k-")), (3, 1, 0));

    is_reported(&out);
    is_fitted(&out, used);
}

/// Two at once: each sees every request.
#[test]
fn two_watch_the_same_server() {
    if !geteuid().is_root() {
        testkit::skip(&"only root may load programs");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let (mut server, address) = origin();
    let outs = ["one", "two"].map(|name| place.path().join(name));
    let watches = outs.clone().map(|out| {
        let mut watch = Command::new(env!("CARGO_BIN_EXE_headworks"));
        watch.args(["watch", "--port", &address.port().to_string(), "--budget", "none"]);
        let mut watch = Process::start(watch.args(["--interval", "200ms", "--out"]).arg(out));
        watch.wait_for_line("  user%");
        watch
    });
    for _ in 0..50 {
        Raw::connect(address).get("/bytes/1000").response();
    }
    for (mut watch, out) in watches.into_iter().zip(outs) {
        watch.wait_for_line("        0-50k");
        kill_process(Pid::from_raw(watch.id() as i32).unwrap(), Signal::INT).unwrap();
        assert_eq!(watch.wait().code(), Some(130));
        let said: Value = RunDirectory::open(&out).unwrap().outcome().unwrap();
        assert_eq!(said["requests"]["0-50k"]["count"], 50, "{said}");
    }
    server.terminate();
}

fn origin() -> (Process, SocketAddr) {
    Process::origin(env!("CARGO_BIN_EXE_headworks"), &["--mode", "static"])
}

/// That is told when it happens, not only at the beginning.
#[test]
fn a_server_that_goes_away_is_told() {
    if !geteuid().is_root() {
        testkit::skip(&"only root may load programs");
        return;
    }
    let (mut server, address) = origin();
    let errors = tempfile::NamedTempFile::new().unwrap();
    let said = || std::fs::read_to_string(errors.path()).unwrap();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_headworks"));
    watch.args(["watch", "--port", &address.port().to_string(), "--budget", "none", "--interval", "200ms"]);
    let mut watch = watch.stdout(Stdio::null()).stderr(errors.reopen().unwrap()).spawn().unwrap();
    let poll = |what: &str| poll_until(PATIENCE, what, || said().contains(what).then_some(()));
    poll("requests told apart by");
    server.terminate();
    poll("no program listens");
    kill_process(Pid::from_child(&watch), Signal::INT).unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(130));
    assert_eq!(said().matches("no program listens").count(), 1, "{}", said());
}

/// What fits is kept and can be read, and what was seen is told nevertheless.
#[test]
fn a_full_disk_ends_the_record_and_not_the_watch() {
    if !geteuid().is_root() {
        testkit::skip(&"only root can make a small disk");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=120k tmpfs "$1" || exit 99
        "$0" watch --port 1 --interval 10ms --duration 60s --json --out "$1/run" 2> "$2.err" &
        while kill -0 $! && ! grep -q 'ends here' "$2.err"; do sleep 0.1; done
        kill -TERM $!; wait $!; code=$?
        cat "$2.err" >&2; cp -r "$1/run" "$2" || exit 98; exit $code"#;
    let kept = place.path().join("kept");
    let small = place.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_headworks")])
        .args([&small, &kept])
        .output()
        .unwrap();
    let said = text(&output.stderr);
    if output.status.code() == Some(99) {
        testkit::skip_here(&format!("no file system can be mounted here: {said}"));
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the record ends here: cannot write "), "{said}");
    assert!(said.contains("samples.parquet: No space left on device"), "{said}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(told["kernel"]["cpu_idle"].as_f64().unwrap() >= 0.0, "{told}");
    let directory = RunDirectory::open(&kept).unwrap();
    let rows = directory.samples().unwrap().map(Result::unwrap).count();
    assert!(rows > 0 && rows.is_multiple_of(8192), "whole groups: {rows}");
    assert_eq!(directory.info().unwrap().tool, "watch");
}

/// The record has its report, which can be made again.
fn is_reported(out: &Path) {
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains(r#""kind":"watch""#) && page.contains("Requests, class by class"));
    let again = headworks(&["report", out.to_str().unwrap()]);
    assert!(text(&again.stdout).contains("10k-100k"), "{}", text(&again.stdout));
}

/// What was measured is what the simulator needs.
fn is_fitted(out: &Path, used: &Value) {
    let fitted = json(&headworks(&["sim", "fit", out.to_str().unwrap(), "--json"]));
    assert_eq!((&fitted["origin"], &fitted["demands"]), (&"watch".into(), &"stopwatch".into()), "{fitted}");
    let need = |of: &str| used[of].as_f64().unwrap();
    let known = need("cpu_user") + need("cpu_kernel") + need("cpu_soft_interrupt");
    assert!((fitted["classes"][0]["demand"].as_f64().unwrap() / known - 1.0).abs() < 1e-6, "{fitted}");
    let share = fitted["classes"][0]["share"].as_f64().unwrap();
    assert!((share - 0.75).abs() < 1e-9, "{fitted}");
}

#[test]
fn a_port_that_nobody_listens_on_is_told() {
    let port = testkit::free_address().port().to_string();
    let output = headworks(&["watch", "--port", &port, "--duration", "200ms"]);
    assert_eq!(output.status.code(), Some(0), "somebody may come");
    assert!(text(&output.stderr).contains("no program listens"), "{}", text(&output.stderr));
}

/// Each group has its own interval or none, by the file or by an option, which comes first.
#[test]
fn a_program_that_is_not_there_or_does_not_listen_is_told() {
    let _sleeper = Process::start(Command::new("sleep").arg("10"));
    for (program, why) in [
        ("no-such-program", "program no-such-program: no process is called so"),
        ("sleep", "sleep: no TCP port and no unix socket is listened on"),
    ] {
        let output = headworks(&["watch", "--program", program, "--duration", "100ms", "--json"]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
}

#[test]
fn groups_are_switched_off_and_have_their_own_intervals() {
    let place = tempfile::tempdir().unwrap();
    let (file, out) = (place.path().join("watch.toml"), place.path().join("run"));
    let text = "programs = ['headworks']\nports = [1]\ninterval = '50ms'\nsamples = 6\n\
                [network]\nenabled = false\n[processes]\ninterval = '100ms'\n[requests]\nenabled = false\n";
    std::fs::write(&file, text).unwrap();
    let arguments = ["watch", "--config", file.to_str().unwrap(), "--json", "--out", out.to_str().unwrap()];
    let said = json(&headworks(&[&arguments[..], &["--group", "connections=off"]].concat()));
    assert!(said["kernel"].is_object() && said["processes"]["headworks"].is_object(), "{said}");
    for absent in ["network", "connections", "listen_queues", "requests"] {
        assert_eq!(said[absent], serde_json::json!({}), "{absent}");
    }
    let directory = RunDirectory::open(&out).unwrap();
    let mut looks = std::collections::BTreeMap::<String, u32>::new();
    for row in directory.samples().unwrap().map(Result::unwrap) {
        *looks.entry(row.metric.to_string()).or_default() += 1;
    }
    let (often, seldom) = (looks["kernel.cpu_idle"], looks["processes.cpu"]);
    assert!(often >= 1 && seldom <= often && seldom <= 4, "{looks:?}");
    assert!(!looks.keys().any(|metric| metric.starts_with("network")), "{looks:?}");
    let spec = directory.info().unwrap().spec;
    assert_eq!(spec["processes"].as_str(), Some("100ms"));
    assert_eq!((spec["network"].as_str(), spec["connections"].as_str()), (Some("off"), Some("off")));
    assert_eq!(spec["classes"].as_str(), Some("50k,500k"));
}

#[test]
fn a_file_that_cannot_be_done_is_explained() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("watch.toml");
    std::fs::write(&file, "programs = ['a']\n[netwrk]\nenabled = false\n").unwrap();
    let output = headworks(&["watch", "--config", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("watch.toml:2: unknown key \"netwrk\"; did you mean \"network\"?"), "{said}");
    for arguments in [&["--group", "netwrk=1s"][..], &["--otlp", "ftp://x"], &["--interval", "1ms"]] {
        let output = headworks(&[&["watch"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
    }
}

/// The same figures to scrapers and to a collector.
#[test]
fn prometheus_and_opentelemetry_are_told() {
    let collector = Collector::start("200 OK");
    let place = format!("http://{}", collector.address());
    let mut watch = Command::new(env!("CARGO_BIN_EXE_headworks"));
    watch.args(["watch", "--program", "headworks", "--interval", "50ms"]);
    let address = testkit::free_address();
    let mut watch = Process::start(watch.args(["--prometheus", &address.to_string(), "--otlp", &place]));
    // When it has looked once, there is something to tell.
    watch.wait_for_line("        headworks: ");
    let scraped = Raw::connect(address).get("/metrics").response();
    assert_eq!(scraped.status, 200);
    assert!(scraped.text().contains("\nheadworks_watch_processes_processes{program=\"headworks\"} "));
    kill_process(Pid::from_raw(watch.id() as i32).unwrap(), Signal::INT).unwrap();
    assert_eq!(watch.wait().code(), Some(130));
    // What was seen last is sent at the end.
    let (body, metric) = collector.wait_for_metric("headworks_watch_kernel_cpu_idle_ratio", |_| true);
    assert!(metric["gauge"]["dataPoints"][0]["asDouble"].as_f64().unwrap() >= 0.0, "{metric}");
    let service = &body["resourceMetrics"][0]["resource"]["attributes"][0]["value"];
    assert_eq!(service["stringValue"], "headworks-watch");
}

/// A reader who has read enough ends a watch, and the record is whole nevertheless.
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
        testkit::skip(&"only root can become somebody else");
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
        (["--budget", "0%"], "such as 1%, or none"),
        (["--classes", "50k,10k"], "bounds must grow"),
        (["--classes", "small"], "is not a size"),
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
