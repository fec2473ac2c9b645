//! Sessions: what users do, how their sessions end, what is counted.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{closed, ok, run, sessions, web};
use load::Options;
use units::Span;

const PAGES: &str = r#"
timeout = "5s"
connections = 3
[[class]]
name = "premium"
share = 0.25
cookie = "tier=premium"
[[class]]
name = "basic"
share = 0.75
header = { X-Tier = "basic" }
[[page]]
url = "/first"
think = "30ms"
embedded = ["/bytes/10", "/bytes/20", "/bytes/30", "/bytes/40", "/bytes/50"]
[[page]]
url = "/last"
"#;

fn content(head: &str) -> Vec<u8> {
    let path = head.split(' ').nth(1).unwrap_or_default();
    ok(path.strip_prefix("/bytes/").map_or(100, |length| length.parse().unwrap()))
}

#[test]
fn every_session_completes_on_a_server_that_answers() {
    let server = web(content);
    let options = Options { warmup: Span::from_millis(100), ..sessions(server.address(), PAGES, 100.0) };
    let summary = run(&options).summary;
    let sessions = &summary.sessions;
    assert!(sessions.started > 5, "{}", sessions.started);
    assert_eq!(sessions.completed, sessions.started);
    assert_eq!(sessions.duration.count, sessions.completed);
    assert!(sessions.duration.p50 < 5.0 && sessions.duration.p50 > 0.0);
    let classes: Vec<&str> = sessions.by_class.keys().map(String::as_str).collect();
    assert_eq!(classes, ["basic", "premium"]);
    assert_eq!(sessions.by_class.values().map(|class| class.started).sum::<u64>(), sessions.started);
    assert_eq!(summary.errors.total(), 0, "{:?}", summary.errors);
    assert_eq!(summary.rate.offered, 100.0);
    assert!(summary.connections.reused > 0, "{:?}", summary.connections);
}

#[test]
fn think_time_is_taken_out_of_the_duration() {
    let server = web(content);
    let paused = PAGES.replace("30ms", "300ms");
    let summary = run(&sessions(server.address(), &paused, 40.0)).summary;
    assert!(summary.sessions.completed > 0);
    // A pause alone is longer than what a session takes here; only its order of size is tested.
    assert!(summary.sessions.duration.p50 < 0.3, "{:?}", summary.sessions.duration);
}

#[test]
fn users_show_their_class_and_return_the_cookies_they_are_given() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let server = web({
        let heads = Arc::clone(&heads);
        move |head| {
            let mut heads = heads.lock().unwrap();
            heads.push(head.to_owned());
            let answer = String::from_utf8(content(head)).unwrap();
            answer
                .replacen("\r\n", &format!("\r\nSet-Cookie: id={}; Path=/\r\n", heads.len()), 1)
                .into_bytes()
        }
    });
    assert!(run(&sessions(server.address(), PAGES, 50.0)).summary.sessions.completed > 0);
    let heads = heads.lock().unwrap();
    let of = |path: &str, mark: &str| {
        let line = format!("GET {path} ");
        heads.iter().filter(|head| head.starts_with(&line) && head.contains(mark)).count()
    };
    assert_eq!(of("/first", "id="), 0, "a session begins without what another was given");
    assert!(of("/last", "Cookie: tier=premium; id=") + of("/last", "Cookie: id=") > 0);
    assert_eq!(of("/last", "id="), of("/last", ""), "cookies are returned");
    assert_eq!(
        of("/first", "Cookie: tier=premium\r\n") + of("/first", "X-Tier: basic\r\n"),
        of("/first", "")
    );
}

#[test]
fn a_refused_page_ends_the_session() {
    let asked = Arc::new(AtomicUsize::new(0));
    let server = web({
        let asked = Arc::clone(&asked);
        move |head| {
            asked.fetch_add(usize::from(head.contains("/last")), Ordering::Relaxed);
            if head.contains("/bytes/30") {
                return b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n".to_vec();
            }
            content(head)
        }
    });
    let summary = run(&sessions(server.address(), PAGES, 50.0)).summary;
    assert!(summary.sessions.started > 0);
    assert_eq!(summary.sessions.completed, 0);
    let refused: u64 = summary.sessions.by_class.values().map(|class| class.refused).sum();
    assert_eq!(refused, summary.sessions.started);
    assert_eq!(asked.load(Ordering::Relaxed), 0, "no user goes on to the next page");
    assert_eq!(summary.status.get(&503), Some(&summary.sessions.started));
}

#[test]
fn a_failure_that_is_no_refusal_is_told_apart() {
    for (status, timeouts, errors) in [("404 Not Found", 0, 1), ("500 Oh", 0, 1), ("", 1, 0)] {
        let server = web(move |head| {
            if !head.contains("/last") {
                return content(head);
            }
            if status.is_empty() {
                thread::sleep(Duration::from_millis(300));
            }
            format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").into_bytes()
        });
        let options =
            Options { timeout: Some(Span::from_millis(150)), ..sessions(server.address(), PAGES, 20.0) };
        let sessions = run(&options).summary.sessions;
        let sum =
            |count: fn(&record::ClassSummary) -> u64| sessions.by_class.values().map(count).sum::<u64>();
        assert!(sessions.started > 0);
        assert_eq!(sum(|class| class.timeout), timeouts * sessions.started, "{status:?}");
        assert_eq!(sum(|class| class.error), errors * sessions.started, "{status:?}");
    }
}

#[test]
fn embedded_objects_come_over_parallel_connections_up_to_the_limit() {
    let now = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let server = web({
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        move |head| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            now.fetch_sub(1, Ordering::SeqCst);
            content(head)
        }
    });
    let options = Options {
        load: closed(1),
        duration: Span::from_millis(400),
        ..sessions(server.address(), PAGES, 1.0)
    };
    assert!(run(&options).summary.sessions.completed > 0);
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[test]
fn a_class_can_have_a_source_address() {
    let peers = Arc::new(Mutex::new(BTreeSet::new()));
    let server = testkit::Hostile::start({
        let peers = Arc::clone(&peers);
        move |stream, _| {
            peers.lock().unwrap().insert(stream.peer_addr().unwrap().ip().to_string());
        }
    });
    let workload = PAGES.replace("cookie = \"tier=premium\"", "address = \"127.0.0.7\"");
    run(&Options { load: closed(4), ..sessions(server.address(), &workload, 1.0) });
    assert_eq!(peers.lock().unwrap().iter().collect::<Vec<_>>(), ["127.0.0.1", "127.0.0.7"]);
}

#[test]
fn a_source_address_of_the_other_family_is_refused() {
    let workload = PAGES.replace("cookie = \"tier=premium\"", "address = \"::1\"");
    let error = load::run(&sessions(testkit::free_address(), &workload, 1.0)).unwrap_err().to_string();
    assert!(error.contains("premium") && error.contains("::1"), "{error}");
}

#[test]
fn what_does_not_end_is_censored_and_shown() {
    let server = web(|head| {
        if head.contains("/last") {
            thread::sleep(Duration::from_secs(3));
        }
        content(head)
    });
    let options = Options { drain: Some(Span::from_millis(100)), ..sessions(server.address(), PAGES, 50.0) };
    let report = run(&options);
    let sessions = &report.summary.sessions;
    assert!(sessions.started > 0);
    assert_eq!(sessions.by_class.values().map(|class| class.censored).sum::<u64>(), sessions.started);
    assert!(report.summary.censored > 0);
    assert_eq!(report.summary.errors.total(), 0, "the end of the run is not an error");
    assert!(report.to_string().contains("cut off"), "{report}");
}

/// Answers 503 to so many requests for `/first`, and then serves.
fn refusing(
    times: usize,
    retry_after: &'static str,
) -> (impl Fn(&str) -> Vec<u8> + Send + Sync + 'static, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    let respond = move |head: &str| {
        if head.starts_with("GET /first ") && seen.fetch_add(1, Ordering::Relaxed) < times {
            let fields = format!("Content-Length: 0\r\nRetry-After: {retry_after}\r\n");
            return format!("HTTP/1.1 503 Service Unavailable\r\n{fields}\r\n").into_bytes();
        }
        content(head)
    };
    (respond, asked)
}

fn one_session(address: std::net::SocketAddr, retry: &str) -> record::Summary {
    let workload = format!("{retry}\n{PAGES}");
    let options = Options { duration: Span::from_millis(900), ..sessions(address, &workload, 1.0) };
    run(&Options {
        load: load::Load::Open {
            rate: units::Rate::per_second(1.0).unwrap(),
            ramp: None,
            process: traffic::Process::Constant,
            connections: None,
        },
        ..options
    })
    .summary
}

#[test]
fn users_ask_again_as_often_as_they_do_and_no_more() {
    for (retry, refusals, completed, asked_first) in [
        ("", 2, 0, 1),
        ("retry = { times = 1 }", 2, 0, 2),
        ("retry = { times = 2 }", 2, 1, 3),
        ("retry = { times = 5 }", 2, 1, 3),
    ] {
        let (respond, asked) = refusing(refusals, "0");
        let summary = one_session(web(respond).address(), retry);
        let sessions = &summary.sessions;
        assert_eq!((sessions.started, sessions.completed), (1, completed), "{retry}");
        assert_eq!(asked.load(Ordering::Relaxed), asked_first, "{retry}");
    }
}

#[test]
fn what_users_wait_before_they_ask_again_grows_and_heeds_the_server_if_they_do() {
    for (retry, refusals, least) in [
        ("retry = { times = 2, pause = '100ms', backoff = 3 }", 2, 0.4),
        ("retry = { times = 2, pause = '1ms', retry-after = true }", 1, 1.0),
    ] {
        let (respond, _) = refusing(refusals, "1");
        let summary = one_session(web(respond).address(), retry);
        let took = summary.sessions.duration.p50;
        assert_eq!(summary.sessions.completed, 1, "{retry}");
        assert!((least..least + 0.9).contains(&took), "{retry}: {took}");
    }
}
