//! What a user asks for does not depend on the version of HTTP, nor on TLS: the same server over all of them.
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
    location = /token {
        add_header X-Next "/detail?user=$arg_user";
        return 200 '{"token": "t-$arg_user", "plan": {"name": "$arg_plan"}}';
    }
    location = /detail {
        if ($http_authorization != "Bearer t-$arg_user") { return 403; }
        if ($request_method != PUT) { return 405; }
        return 200 "price 5";
    }
    location = /pro { if ($arg_plan != pro) { return 409; } return 404; }
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

fn start(root: &std::path::Path) -> Option<Nginx> {
    Nginx::start(root, &format!("set $expected \"{COOKIES}\"; {SITE}"))
}

/// Runs over each version of HTTP, with the rows of their requests.
fn check(change: impl Fn(&mut Options), verify: impl Fn(&load::Report, &[RequestRow])) {
    let root = tempfile::tempdir().unwrap();
    let Some(nginx) = start(root.path()) else { return };
    for (http, url) in
        [(Http::Http11, nginx.url()), (Http::Http11, nginx.tls_url()), (Http::Http2, nginx.tls_url())]
    {
        let scratch = tempfile::tempdir().unwrap();
        let placeholder = "127.0.0.1:1".parse().unwrap();
        let mut options = Options {
            protocol: Protocol { http, insecure: true, ..Protocol::default() },
            out: Some(scratch.path().join("run")),
            ..options(placeholder)
        };
        change(&mut options);
        let path = options.target.path().to_owned();
        options.target = format!("{url}{path}").parse().unwrap();
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

const DATA: &str = r#"
data = "users.csv"
[[page]]
url = "/token?user=${user}&plan=${plan}"
expect = 200
take = { token = "json:/token", name = "json:/plan/name", next = "header:X-Next" }
[[page]]
when = { name = "pro" }
url = "/pro?plan=${name}"
expect = { status = 404, body = "(?i)not found" }
[[page]]
url = "${next}"
method = "PUT"
header = { Authorization = "Bearer ${token}" }
expect = { status = "2xx", body = "price \\d" }
"#;

#[test]
fn sessions_send_what_they_know_and_remember_what_they_are_told() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("users.csv"), "user,plan\nann,free\nbob,pro\n").unwrap();
    let file = scratch.path().join("test.toml");
    std::fs::write(&file, format!("kind = \"sessions\"\n{DATA}")).unwrap();
    let workload = traffic::Workload::read(&file).unwrap();
    check(
        |options| {
            options.script = load::Script::Sessions { workload: workload.clone(), text: DATA.to_owned() };
            options.load = closed(1);
        },
        |report, rows| {
            let summary = &report.summary;
            assert_eq!(summary.errors.total(), 0, "{:?}", summary.error_details);
            assert!(summary.sessions.completed > 10, "{report}");
            assert_eq!(summary.sessions.by_class["all"].error, 0, "{report}");
            let count = |url: &str| rows.iter().filter(|row| &*row.url_class == url).count();
            let (sessions, pro) = (count("${next}"), count("/pro?plan=${name}"));
            assert!(pro.abs_diff(sessions / 2) <= 1, "every second is pro: {pro} of {sessions}");
            assert!(rows.iter().all(|row| row.status != Some(403) && row.status != Some(405)));
        },
    );
}

#[test]
fn what_is_missing_in_a_response_ends_the_session_and_is_said() {
    let text = "kind = \"sessions\"\n[[page]]\nurl = \"/login\"\ntake = { token = \"json:/token\" }\n\
        [[page]]\nurl = \"/detail?t=${token}\"\n";
    let workload = traffic::Workload::parse(&config::Source::new("test.toml", text)).unwrap();
    let root = tempfile::tempdir().unwrap();
    let Some(nginx) = start(root.path()) else { return };
    let script = load::Script::Sessions { workload, text: text.to_owned() };
    let options =
        Options { target: nginx.url().parse().unwrap(), script, ..options("127.0.0.1:1".parse().unwrap()) };
    let summary = run(&options).summary;
    assert!(summary.errors.body > 0 && summary.responses == 0, "{summary:?}");
    assert_eq!(summary.sessions.completed, 0);
    assert_eq!(summary.error_details[0].reason, "nothing at json:/token to take as token");
}
