//! `headworks gate` as a service: read again, replaced and started by others, while clients are
//! served all the time.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};

use crate::common::{Crowd, Site, reloads, signal};
use rustix::process::Signal;
use testkit::{PATIENCE, Process, Raw, open_descriptors, poll_until};

/// Everything that can change, in two versions.
fn version(number: usize) -> String {
    let (class, window) = if number.is_multiple_of(2) { ("premium", 4) } else { ("basic", 6) };
    format!(
        "differentiation = 0.{digit}\nwindow = {window}\n\
         [[class]]\nname = 'premium'\n[[class]]\nname = 'basic'\n\
         [[rule]]\nclass = '{class}'\npath = '/bytes/'\n\
         [limits]\nclass-queues = {queues}\n[reject]\nretry-after = '{digit}s'\n\
         [client]\ndrain-timeout = '2s'\n",
        digit = number % 9 + 1,
        queues = 500 + number,
    )
}

#[test]
fn two_hundred_reloads_fail_no_request() {
    let site = Site::new();
    let gate = site.configure(&version(0)).start();
    let crowd = Crowd::start(site.address, 6);
    crowd.serve(50);
    let before = open_descriptors(gate.id());
    for number in 1..=200 {
        site.configure(&version(number));
        site.reload(&gate);
    }
    assert_eq!(site.metric(&reloads("done")), 200.0);
    assert_eq!(site.metric("headworks_gate_window"), 4.0, "what is in force is what was read last");
    crowd.serve(50);
    let served = crowd.end();
    assert!(open_descriptors(gate.id()) <= before + 16, "descriptors after {served} requests");
}

#[test]
fn a_server_that_is_the_gate_itself_is_refused_when_it_is_read_again() {
    let site = Site::new();
    let mut gate = site.configure("").start();
    site.configure_upstream(&format!("server = ['{}']", site.admin));
    site.reload(&gate);
    assert_eq!(site.metric(&reloads("refused")), 1.0);
    assert_eq!(Raw::connect(site.address).get("/bytes/5").response().status, 200);
    gate.terminate();
    let (admin, file) = (site.admin, site.path("gate.toml"));
    let why = format!(
        "{file}:3: upstream {admin} is the gate itself: its admin interface is {admin} ({file}:2)",
        file = file.display()
    );
    let said = gate.rest_of_stderr();
    assert!(said.contains(&why), "{why:?} in {said}");
}

#[test]
fn a_configuration_that_is_wrong_changes_nothing() {
    let site = Site::new();
    let mut gate = site.configure("window = 4").start();
    let file = site.path("gate.toml");
    for (wrong, why) in [
        ("window = 0", format!("{}:4: the window is 0; it must be at least 1", file.display())),
        ("windw = 7", format!("{}:4: unknown key \"windw\"", file.display())),
        (
            "window = 7\n[[class]]\nname = 'one'",
            "the list of classes cannot change while the gate runs".to_owned(),
        ),
        ("window = 7\nbacklog = 7", "backlog cannot change while the gate runs".to_owned()),
    ] {
        site.configure(wrong);
        let refused = site.metric(&reloads("refused"));
        site.reload(&gate);
        assert_eq!(site.metric(&reloads("refused")), refused + 1.0, "{wrong}");
        assert_eq!(site.metric("headworks_gate_window"), 4.0, "{wrong}");
        assert_eq!(Raw::connect(site.address).get("/bytes/5").response().status, 200);
        assert!(!why.is_empty());
    }
    gate.terminate();
    let said = gate.rest_of_stderr();
    for why in [
        "gate.toml:4: the window is 0",
        "unknown key \"windw\"",
        "the list of classes cannot",
        "backlog cannot",
    ] {
        assert!(said.contains(why), "{why:?} in {said}");
    }
}

#[test]
fn twenty_restarts_fail_no_request() {
    let site = Site::new();
    let control = format!("[operation]\ncontrol = 'gate.sock'\n{}", "");
    site.configure(&format!("{}\n{control}", version(0)));
    let mut gate = site.start();
    let crowd = Crowd::start(site.address, 6);
    for _ in 0..20 {
        crowd.serve(20);
        // Ready means that it accepts; then the one before is on its way out.
        let next = site.start();
        let status = gate.wait();
        assert_eq!(status.code(), Some(0), "{}", gate.rest_of_stderr());
        assert!(gate.rest_of_stderr().contains("has taken over"));
        gate = next;
    }
    crowd.serve(50);
    crowd.end();
    assert_eq!(gate.terminate().code(), Some(143));
    assert!(!site.path("gate.sock").exists(), "the last one clears up");
}

#[test]
fn a_session_without_a_secret_outlives_the_process() {
    let site = Site::new();
    site.configure("[operation]\ncontrol = 'gate.sock'\n[client]\ndrain-timeout = '1s'");
    let first = site.start();
    let response = Raw::connect(site.address).get("/bytes/1").response();
    let cookie = response.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let _second = site.start();
    drop(first);
    let request = format!("GET /bytes/1 HTTP/1.1\r\nHost: a\r\nCookie: {cookie}\r\n\r\n");
    let response = Raw::connect(site.address).send(request).response();
    assert_eq!((response.status, response.header("set-cookie")), (200, None), "it is the same session");
}

#[test]
fn what_is_in_hand_is_finished_by_the_one_that_took_it() {
    let site = Site::new();
    site.configure("[operation]\ncontrol = 'gate.sock'");
    let mut first = site.start();
    let mut busy = Raw::connect(site.address);
    busy.get("/burn?cpu=300ms");
    poll_until(PATIENCE, "the request to be in service", || {
        (site.metric("headworks_gate_in_service") == 1.0).then_some(())
    });
    let mut idle = Raw::connect(site.address);
    assert_eq!(idle.get("/bytes/1").response().header("connection"), None);
    let _second = site.start();
    assert_eq!(busy.response().status, 200);
    assert_eq!(idle.get("/bytes/2").response().header("connection"), Some("close"), "its last here");
    assert_eq!(first.wait().code(), Some(0));
}

#[test]
fn a_successor_that_fails_leaves_everything_as_it_was() {
    let site = Site::new();
    site.configure("[operation]\ncontrol = 'gate.sock'");
    let mut gate = site.start();
    // It takes the sockets, and cannot open its log.
    site.configure("[operation]\ncontrol = 'gate.sock'\naccess-log = 'nowhere/access.log'");
    let mut failed = Process::start(&mut site.command());
    assert_eq!(failed.wait().code(), Some(1));
    assert!(failed.rest_of_stderr().contains("cannot open access log"));
    // A client that is not a gate gets nothing.
    let mut stranger = UnixStream::connect(site.path("gate.sock")).unwrap();
    std::io::Write::write_all(&mut stranger, b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // The rest of the request is unread when it is closed.
    let _ = std::io::Read::read_to_end(&mut stranger, &mut answer);
    assert_eq!(answer, b"");
    assert_eq!(Raw::connect(site.address).get("/bytes/5").response().status, 200);
    site.configure("[operation]\ncontrol = 'gate.sock'\n[client]\ndrain-timeout = '1s'");
    let _next = site.start();
    assert_eq!(gate.wait().code(), Some(0));
}

#[test]
fn a_control_socket_nobody_listens_at_is_replaced_and_a_file_is_not() {
    let site = Site::new();
    site.configure("[operation]\ncontrol = 'gate.sock'");
    drop(UnixListener::bind(site.path("gate.sock")).unwrap());
    drop(site.start());
    fs::remove_file(site.path("gate.sock")).unwrap();
    fs::write(site.path("gate.sock"), "precious").unwrap();
    let mut gate = Process::start(&mut site.command());
    assert_eq!(gate.wait().code(), Some(1));
    assert!(gate.rest_of_stderr().contains("is not a socket"));
    assert_eq!(fs::read(site.path("gate.sock")).unwrap(), b"precious");
}

#[test]
fn who_does_not_mean_to_follow_ends_nothing() {
    let site = Site::new();
    site.configure("[operation]\ncontrol = 'gate.sock'\n[client]\ndrain-timeout = '1s'");
    let mut first = site.start();
    for words in [&b""[..], b"take over", b"take over 2\n", &[0xff; 100_000]] {
        // The gate may have closed it before all is written.
        let _ = UnixStream::connect(site.path("gate.sock")).unwrap().write_all(words);
    }
    // One that takes the sockets, and ends before it serves.
    let mut thief = UnixStream::connect(site.path("gate.sock")).unwrap();
    thief.write_all(b"take over 1\n").unwrap();
    thief.read_exact(&mut [0]).unwrap();
    drop(thief);
    assert_eq!(Raw::connect(site.address).get("/bytes/5").response().status, 200);
    let _second = site.start();
    assert_eq!(first.wait().code(), Some(0));
    assert_eq!(Raw::connect(site.address).get("/bytes/5").response().status, 200);
}

#[test]
fn without_a_file_there_is_nothing_to_read_again() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_headworks"));
    command.args(["gate", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1"]);
    let mut gate = Process::start(&mut command);
    gate.wait_for_line("listening on ");
    let admin = gate.wait_for_address("admin on ");
    signal(&gate, Signal::HUP);
    poll_until(PATIENCE, "the signal to be answered", || {
        let page = Raw::connect(admin).get("/metrics").response();
        page.text().contains(&format!("{} 1", reloads("refused"))).then_some(())
    });
    gate.terminate();
    assert!(gate.rest_of_stderr().contains("there is no configuration file to read again"));
}

#[test]
fn one_that_is_about_to_stop_can_still_be_followed() {
    let site = Site::new();
    site.configure("[operation]\ncontrol = 'gate.sock'\ndrain-delay = '15s'\n[client]\ndrain-timeout = '1s'");
    let mut first = site.start();
    signal(&first, Signal::TERM);
    poll_until(PATIENCE, "the gate not to be ready", || {
        (Raw::connect(site.admin).get("/readyz").response().status == 503).then_some(())
    });
    let _second = site.start();
    assert_eq!(first.wait().code(), Some(0));
    assert_eq!(Raw::connect(site.address).get("/bytes/5").response().status, 200);
}

#[test]
fn unix_sockets_are_handed_over_as_well() {
    let site = Site::new();
    let (front, admin) = (site.path("front.sock"), site.path("admin.sock"));
    site.configure(&format!(
        "[[listener]]\naddress = 'unix:{}'\n[operation]\ncontrol = 'gate.sock'\n[client]\ndrain-timeout = '1s'",
        front.display()
    ));
    let file = fs::read_to_string(site.path("gate.toml")).unwrap();
    let both = format!("admin = {{ listen = '{}', socket = '{}' }}", site.admin, admin.display());
    fs::write(site.path("gate.toml"), file.replace(&format!("admin = '{}'", site.admin), &both)).unwrap();
    let inode = |path: &std::path::Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let mut gate = site.start();
    let before = [inode(&front), inode(&admin)];
    for _ in 0..3 {
        let next = site.start();
        assert_eq!(gate.wait().code(), Some(0));
        gate = next;
        assert_eq!([inode(&front), inode(&admin)], before, "the same sockets, so no client was refused");
        for path in [&front, &admin] {
            let mut client = UnixStream::connect(path).unwrap();
            std::io::Write::write_all(
                &mut client,
                b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            )
            .unwrap();
            let mut answer = String::new();
            std::io::Read::read_to_string(&mut client, &mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
        }
    }
    gate.terminate();
    assert!(!front.exists());
}

#[test]
fn a_secret_is_changed_without_a_session_lost() {
    const OLD: &str = "the old secret, long enough";
    const NEW: &str = "the new secret, long enough";
    let site = Site::new();
    let gate = site.configure(&format!("[session]\nsecret = '{OLD}'")).start();
    let ask = |cookie: &str| {
        let request = format!("GET /bytes/1 HTTP/1.1\r\nHost: a\r\nCookie: {cookie}\r\n\r\n");
        let response = Raw::connect(site.address).send(request).response();
        response.header("set-cookie").map(|cookie| cookie.split(';').next().unwrap().to_owned())
    };
    let first = ask("none").unwrap();
    site.configure(&format!("[session]\nsecret = '{NEW}'\nprevious-secret = '{OLD}'"));
    site.reload(&gate);
    assert_eq!(ask(&first), None, "it goes on");
    let second = ask("none").unwrap();
    site.configure(&format!("[session]\nsecret = '{NEW}'"));
    site.reload(&gate);
    assert_eq!(ask(&second), None);
    assert!(ask(&first).is_some(), "what was sealed with a secret that is gone is as good as none");
}

#[test]
fn who_waits_goes_on_waiting() {
    let site = Site::new();
    let gate = site.configure("window = 1\ndifferentiation = 0").start();
    let mut clients: Vec<Raw> = (0..8).map(|_| Raw::connect(site.address)).collect();
    for client in &mut clients {
        client.get("/burn?cpu=100ms");
    }
    let waiting = "headworks_gate_queue{stage=\"class\"}";
    poll_until(PATIENCE, "a queue", || (site.metric(waiting) >= 4.0).then_some(()));
    // First bounds shorter than what waits, and then no waiting at all.
    for more in ["window = 2\n[limits]\nclass-queues = 1\nacceptor-queue = 1", "window = 1\nmode = 'shadow'"]
    {
        site.configure(more);
        site.reload(&gate);
    }
    assert_eq!(site.metric(&reloads("done")), 2.0);
    for client in &mut clients {
        assert_eq!(client.response().status, 200);
    }
}

#[test]
fn a_timeout_that_is_shortened_holds_for_answers_under_way() {
    let site = Site::new();
    let gate = site.configure_upstream("timeout = '1h'").start();
    let mut client = Raw::connect(site.address);
    client.get("/delay?bytes=100&pieces=2&between=60s");
    assert!(client.head().starts_with("HTTP/1.1 200"));
    site.configure_upstream("timeout = '200ms'");
    site.reload(&gate);
    assert!(client.until_closed().len() < 100);
}
