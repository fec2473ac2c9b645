//! What a user asks for does not depend on the version of HTTP: the same server over both.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::{closed, options, run, sessions};
use load::{Http, Options, Protocol};
use record::{RequestRow, RunDirectory};
use testkit::Nginx;
use units::Span;

const SITE: &str = r#"
    location = /host { if ($host = foo.example) { return 404; } return 200 other; }
    location = /login { add_header Set-Cookie "sid=42; Path=/"; return 200 welcome; }
    location = /private { if ($http_cookie != $expected) { return 403; } return 200 secret; }
    location = /agent { if ($http_user_agent != "Mine/1") { return 403; } return 200 fine; }
    location = /timed {
        add_header Server-Timing "cache;desc=miss";
        add_header Server-Timing "app;dur=2";
        return 200 fine;
    }
"#;

/// What the server must be told at `/private`: a user's field, a class's cookie, and a session's.
const COOKIES: &str = "given=1; tier=premium; sid=42";

const WORKLOAD: &str = r#"
[[class]]
name = "premium"
share = 1.0
cookie = "tier=premium"
header = { User-Agent = "Mine/1" }
[[page]]
url = "/login"
[[page]]
url = "/private"
[[page]]
url = "/agent"
"#;

/// Runs over each version of HTTP, with the rows of their requests.
fn check(change: impl Fn(&mut Options), verify: impl Fn(&load::Report, &[RequestRow])) {
    let root = tempfile::tempdir().unwrap();
    let site = format!("set $expected \"{COOKIES}\"; {SITE}");
    let Some(nginx) = Nginx::start(root.path(), &site) else { return };
    for http in [Http::Http11, Http::Http2] {
        let scratch = tempfile::tempdir().unwrap();
        let placeholder = "127.0.0.1:1".parse().unwrap();
        let mut options = Options {
            protocol: Protocol { http, insecure: true, ..Protocol::default() },
            out: Some(scratch.path().join("run")),
            ..options(placeholder)
        };
        change(&mut options);
        let path = options.target.path().to_owned();
        options.target = format!("{}{path}", nginx.tls_url()).parse().unwrap();
        let report = run(&options);
        let rows = RunDirectory::open(scratch.path().join("run")).unwrap().requests().unwrap();
        let rows: Vec<RequestRow> = rows.map(Result::unwrap).filter(|row| row.error.is_none()).collect();
        assert!(!rows.is_empty(), "{http}: {report}");
        verify(&report, &rows);
    }
}

/// A run of one client that asks for `path`.
fn path(options: &mut Options, path: &str) {
    options.target = format!("http://127.0.0.1:1{path}").parse().unwrap();
}

#[test]
fn the_host_that_the_user_names_is_asked() {
    check(
        |options| {
            path(options, "/host");
            options.request.headers = vec![("Host".to_owned(), "foo.example".to_owned())];
        },
        |_, rows| assert!(rows.iter().all(|row| row.status == Some(404)), "{rows:?}"),
    );
}

#[test]
fn cookies_and_the_fields_of_a_class_are_sent() {
    check(
        |options| {
            let asked = sessions("127.0.0.1:1".parse().unwrap(), WORKLOAD, 20.0);
            options.script = asked.script;
            options.load = closed(1);
            options.duration = Span::from_millis(100);
            options.request.headers = vec![("Cookie".to_owned(), "given=1".to_owned())];
        },
        |report, rows| {
            assert!(rows.iter().all(|row| row.status == Some(200)), "{report}");
            let sessions = &report.summary.sessions;
            assert!(sessions.completed > 0, "{report}");
            let lost = sessions.by_class.values().map(|class| class.error + class.refused).sum::<u64>();
            assert_eq!(lost, 0, "{report}");
        },
    );
}

#[test]
fn the_first_duration_that_the_server_tells_counts() {
    check(
        |options| path(options, "/timed"),
        |_, rows| assert!(rows.iter().all(|row| row.server_ns == Some(Span::from_millis(2))), "{rows:?}"),
    );
}
