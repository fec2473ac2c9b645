//! The access log of `headworks gate`: its fields, its rotation, and that no request waits for it.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::io::{Read as _, Write as _};

use crate::common::{Crowd, Site, signal};
use rustix::process::Signal;
use serde_json::Value;
use testkit::{Hostile, PATIENCE, Raw, poll_until};

const RULES: &str = "[[class]]\nname = 'premium'\n[[class]]\nname = 'basic'\n\
    [[rule]]\nclass = 'premium'\npath = '/bytes/7'\n";

fn lines(site: &Site, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(site.path(file)).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")))
        .collect()
}

/// The next line whose path begins so.
#[track_caller]
fn line(site: &Site, path: &str) -> Value {
    poll_until(PATIENCE, &format!("a line for {path}"), || {
        lines(site, "access.log").into_iter().find(|line| line["path"].as_str().unwrap().starts_with(path))
    })
}

#[test]
fn a_line_tells_everything_about_a_request() {
    let site = Site::new();
    site.configure(&format!("[operation]\naccess-log = 'access.log'\n{RULES}"));
    let mut gate = site.start();
    let mut client = Raw::connect(site.address);
    let first = client.get("/bytes/7?a=%22b").response();
    let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let body = "x".repeat(40_000);
    client.send(format!(
        "POST /burn?cpu=20ms HTTP/1.1\r\nHost: shop\r\nCookie: {cookie}\r\nContent-Length: 40000\r\n\r\n{body}"
    ));
    assert_eq!(client.response().status, 200);
    // Not a request that any policy would see.
    Raw::connect(site.address).send("GET /bytes/2 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").until_closed();
    gate.terminate();

    let found = line(&site, "/bytes/7");
    assert_eq!(found["path"], "/bytes/7?a=%22b", "as the client sent it");
    for (field, value) in [
        ("client", "127.0.0.1"),
        ("method", "GET"),
        ("host", "localhost"),
        ("protocol", "HTTP/1.1"),
        ("class", "premium"),
        ("rule", "rule 1"),
        ("session", "new"),
        ("decision", "dispatched"),
    ] {
        assert_eq!(found[field], value, "{field} of {found}");
    }
    assert_eq!(
        (&found["status"], &found["bytes_in"], &found["bytes_out"]),
        (&200.into(), &0.into(), &7.into())
    );
    assert_eq!(
        (&found["reason"], &found["failure"], &found["complete"]),
        (&Value::Null, &Value::Null, &true.into())
    );
    assert!(found["time"].as_str().unwrap().ends_with('Z'), "{found}");
    assert_eq!(found["session_id"].as_str().unwrap().len(), 16);

    let posted = line(&site, "/burn");
    assert_eq!((&posted["session"], &posted["rule"]), (&"known".into(), &"session".into()), "{posted}");
    assert_eq!((&posted["bytes_in"], &posted["host"]), (&40_000.into(), &"shop".into()));
    let times = &posted["times"];
    let of = |stage: &str| times[stage].as_f64().unwrap();
    let stages = ["body", "acceptor", "pending", "discard", "class", "overhead", "server", "transfer"];
    let sum: f64 = stages.into_iter().map(of).sum();
    assert!(of("server") >= 0.02 && of("total") >= 0.02, "{times}");
    assert!((sum - of("total")).abs() < 0.000_01, "the stages are the whole: {times}");
    assert!(line(&site, "/bytes/7").get("times").is_some());

    let unread = lines(&site, "access.log").into_iter().find(|line| line["method"] == "-").unwrap();
    assert_eq!((&unread["status"], &unread["path"]), (&400.into(), &"".into()), "{unread}");
    assert_eq!((&unread["decision"], &unread["reason"]), (&"invalid".into(), &"host".into()), "{unread}");
}

#[test]
fn refusals_and_failures_say_why() {
    let site = Site::new();
    site.configure(&format!(
        "window = 1\n[operation]\naccess-log = 'access.log'\n[deadlines]\nclass = '100ms'\nacceptor = '100ms'\npending = '100ms'\n[limits]\ndiscard-periods = 0\n{RULES}"
    ));
    let mut gate = site.start();
    let mut clients: Vec<Raw> = (0..12).map(|_| Raw::connect(site.address)).collect();
    for client in &mut clients {
        client.get("/burn?cpu=150ms");
    }
    let refused =
        clients.iter_mut().map(|client| client.response().status).filter(|status| *status == 503).count();
    assert!(refused > 0);
    // A client that gives up while the server works.
    let mut gone = Raw::connect(site.address);
    gone.get("/burn?cpu=200ms&gone");
    poll_until(PATIENCE, "the request to be in service", || {
        (site.metric("headworks_gate_in_service") == 1.0).then_some(())
    });
    drop(gone);
    let left = line(&site, "/burn?cpu=200ms&gone");
    assert_eq!((&left["status"], &left["complete"]), (&Value::Null, &false.into()), "{left}");
    gate.terminate();
    let all = lines(&site, "access.log");
    let refused_lines: Vec<_> = all.iter().filter(|line| line["decision"] == "refused").collect();
    assert_eq!(refused_lines.len(), refused, "one line each");
    for line in refused_lines {
        assert_eq!(line["status"], 503, "{line}");
        assert!(line["reason"].is_string() && line["upstream"].is_null(), "{line}");
    }
}

#[test]
fn a_request_that_stalls_is_told_so_and_the_log_says_who_stood_still() {
    let site = Site::new();
    site.configure("[operation]\naccess-log = 'access.log'\n[client]\nstall-timeout = '200ms'\n");
    let mut gate = site.start();
    let upload = |path: &str| {
        let mut client = Raw::connect(site.address);
        client.send(format!("POST {path} HTTP/1.1\r\nHost: shop\r\nContent-Length: 100\r\n\r\nhalf"));
        client
    };
    let mut stalled = upload("/burn?cpu=1ms&stalled");
    assert_eq!(stalled.response().status, 408);
    assert_eq!(stalled.until_closed(), b"");
    let mut download = Raw::connect(site.address);
    download.get("/bytes/50000000");
    let of_upload = line(&site, "/burn?cpu=1ms&stalled");
    let of_download = line(&site, "/bytes/50000000");
    drop((stalled, download));
    gate.terminate();
    for (line, method, status, reason) in
        [(of_upload, "POST", 408, "upload-stalled"), (of_download, "GET", 200, "download-stalled")]
    {
        assert_eq!((&line["method"], &line["status"]), (&method.into(), &status.into()), "{line}");
        assert_eq!((&line["reason"], &line["complete"]), (&reason.into(), &false.into()), "{line}");
        assert_eq!(line["upstream"], site.server.address().to_string(), "{line}");
    }
}

#[test]
fn a_server_that_breaks_off_is_told_from_a_client_that_leaves() {
    let site = Site::new();
    let server = Hostile::start(|mut stream, _| {
        let _ = stream.read(&mut [0; 1000]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    });
    site.configure_before(server.address(), "[operation]\naccess-log = 'access.log'\n");
    let mut gate = site.start();
    Raw::connect(site.address).get("/broken").until_closed();
    let broken = line(&site, "/broken");
    gate.terminate();
    assert_eq!((&broken["status"], &broken["failure"]), (&200.into(), &"broken".into()), "{broken}");
}

/// However short the time is that the server has.
#[test]
fn a_client_that_stops_sending_is_not_the_servers_failure() {
    let site = Site::new();
    site.configure_upstream(
        "timeout = '100ms' }\n[operation]\naccess-log = 'access.log'\n[client]\nstall-timeout = '400ms'\n# {",
    );
    let mut gate = site.start();
    let mut client = Raw::connect(site.address);
    client.send("POST /bytes/1 HTTP/1.1\r\nHost: shop\r\nContent-Length: 100\r\n\r\nhalf");
    assert_eq!(client.response().status, 408);
    let stalled = line(&site, "/bytes/1");
    gate.terminate();
    assert_eq!(
        (&stalled["reason"], &stalled["failure"]),
        (&"upload-stalled".into(), &Value::Null),
        "{stalled}"
    );
}

#[test]
fn the_log_names_the_server_that_has_failed() {
    let site = Site::new();
    let closed = testkit::free_address();
    site.configure_before(closed, "[operation]\naccess-log = 'access.log'\n");
    let mut gate = site.start();
    assert_eq!(Raw::connect(site.address).get("/page").response().status, 502);
    let failed = line(&site, "/page");
    gate.terminate();
    assert_eq!((&failed["upstream"], &failed["failure"]), (&closed.to_string().into(), &"connect".into()));
}

#[test]
fn a_moved_file_is_begun_again() {
    let site = Site::new();
    site.configure("[operation]\naccess-log = 'access.log'");
    let gate = site.start();
    let crowd = Crowd::start(site.address, 4);
    for number in 0..5 {
        crowd.serve(50);
        fs::rename(site.path("access.log"), site.path(&format!("access.log.{number}"))).unwrap();
        // Both signals do.
        signal(&gate, if number % 2 == 0 { Signal::USR1 } else { Signal::HUP });
        poll_until(PATIENCE, "the file to be begun again", || site.path("access.log").exists().then_some(()));
    }
    let served = crowd.end();
    drop_politely(gate);
    let files = (0..5).map(|number| format!("access.log.{number}")).chain(["access.log".to_owned()]);
    let found: usize = files.map(|file| lines(&site, &file).len()).sum();
    assert_eq!(found as u64, served, "no line is lost or torn by it");
}

#[test]
fn a_request_that_is_cut_off_at_the_end_has_its_line() {
    let site = Site::new();
    site.configure("[operation]\naccess-log = 'access.log'\n[client]\ndrain-timeout = '100ms'");
    let gate = site.start();
    let mut busy = Raw::connect(site.address);
    busy.get("/burn?cpu=2s");
    poll_until(PATIENCE, "the request to be in service", || {
        (site.metric("headworks_gate_in_service") == 1.0).then_some(())
    });
    drop_politely(gate);
    let cut = line(&site, "/burn");
    assert_eq!((&cut["decision"], &cut["complete"]), (&"dispatched".into(), &false.into()), "{cut}");
}

fn drop_politely(mut gate: testkit::Process) {
    assert_eq!(gate.terminate().code(), Some(143));
}

#[test]
fn a_full_disk_harms_nobody() {
    let site = Site::new();
    site.configure("[operation]\naccess-log = '/dev/full'");
    let mut gate = site.start();
    let crowd = Crowd::start(site.address, 4);
    crowd.serve(300);
    let lost = "headworks_gate_log_lines_total{result=\"failed\"}";
    poll_until(PATIENCE, "lines to be lost", || (site.metric(lost) > 0.0).then_some(()));
    crowd.serve(300);
    crowd.end();
    gate.terminate();
    let said = gate.rest_of_stderr();
    assert_eq!(said.matches("cannot write to /dev/full").count(), 1, "{said}");
}

#[test]
fn a_pipe_that_nobody_reads_harms_nobody() {
    let site = Site::new();
    site.configure("[operation]\naccess-log = 'stdout'");
    // The test reads up to the addresses and no further: the pipe fills up.
    let mut gate = site.start();
    let crowd = Crowd::start(site.address, 4);
    let dropped = "headworks_gate_log_lines_total{result=\"dropped\"}";
    poll_until(PATIENCE, "lines to be dropped", || (site.metric(dropped) > 0.0).then_some(()));
    crowd.serve(100);
    crowd.end();
    assert_eq!(gate.terminate().code(), Some(143), "it does not wait for the reader either");
}

#[test]
fn a_log_can_be_begun_and_ended_by_a_reload() {
    let site = Site::new();
    let gate = site.configure("").start();
    Raw::connect(site.address).get("/bytes/1").response();
    site.configure("[operation]\naccess-log = 'access.log'");
    site.reload(&gate);
    Raw::connect(site.address).get("/bytes/2").response();
    assert_eq!(line(&site, "/bytes/2")["status"], 200);
    site.configure("");
    site.reload(&gate);
    Raw::connect(site.address).get("/bytes/3").response();
    drop_politely(gate);
    assert_eq!(lines(&site, "access.log").len(), 1);
    std::io::stdout().flush().unwrap();
}
