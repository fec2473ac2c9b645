//! What a user asks for does not depend on the version of HTTP, nor on TLS: the same server over all of them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::agree::BACKENDS;
use crate::common::{closed, options, run, sessions};
use load::{Http, Load, Options, Protocol};
use record::{RequestRow, RunDirectory};
use testkit::Nginx;
use traffic::Process;
use units::{Rate, Span};

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
    location = /moved { return 301 /moved/again?x=1; }
    location = /moved/again { if ($arg_x != 1) { return 400; } return 307 $scheme://$http_host/here; }
    location = /here { return 200 here; }
    location = /form { return 303 /form/done; }
    location = /form/done {
        if ($request_method != GET) { return 405; }
        if ($content_length) { return 400; }
        if ($content_type) { return 400; }
        return 200 done;
    }
    location = /upload { return 308 /upload/there; }
    location = /upload/there {
        if ($request_method != POST) { return 405; }
        if ($content_length != 5) { return 400; }
        return 200 there;
    }
    location = /round { return 302 /round; }
    location = /away { return 302 http://other.example/x; }
    location = /enter { add_header Set-Cookie "sid=7"; return 302 entered; }
    location = /entered { if ($cookie_sid != 7) { return 403; } return 200 '{"name": "ann"}'; }
    location = /of/ann { return 200 fine; }
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
            options.script =
                load::Script::Sessions { workload: Box::new(workload.clone()), text: DATA.to_owned() };
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
    let script = load::Script::Sessions { workload: Box::new(workload), text: text.to_owned() };
    let options =
        Options { target: nginx.url().parse().unwrap(), script, ..options("127.0.0.1:1".parse().unwrap()) };
    let summary = run(&options).summary;
    assert!(summary.errors.body > 0 && summary.responses == 0, "{summary:?}");
    assert_eq!(summary.sessions.completed, 0);
    assert_eq!(summary.error_details[0].reason, "nothing at json:/token to take as token");
}

/// How often a status came.
fn statuses(rows: &[RequestRow], status: u16) -> usize {
    rows.iter().filter(|row| row.status == Some(status)).count()
}

/// A run of requests for `path` that follows so many redirects, and takes nothing but 200 where it does.
fn following(options: &mut Options, of: &str, redirects: u32) {
    path(options, of);
    options.protocol.redirects = redirects;
    options.checks.status = (redirects > 0).then(|| "200".parse().unwrap());
}

#[test]
fn redirects_are_followed_each_as_a_request_of_its_own() {
    check(
        |options| following(options, "/moved", 2),
        |report, rows| {
            assert_eq!(report.summary.errors.total(), 0, "{report}");
            let [moved, again, here] = [301, 307, 200].map(|status| statuses(rows, status));
            assert!(here > 10 && moved - here <= 1 && again - here <= 1, "{moved} {again} {here}");
        },
    );
    // The schedule of an open loop has no redirects: following one is not an arrival.
    check(
        |options| {
            following(options, "/moved", 2);
            options.load = Load::Open {
                rate: Rate::per_second(100.0).unwrap(),
                ramp: None,
                process: Process::Constant,
                connections: None,
            };
        },
        |report, rows| {
            // How late they are is for the machine to say; how many there are is not.
            let mut reasons = report.summary.client.why_invalid.iter();
            assert!(
                reasons.all(|why| !why.contains("arrivals") || why.contains(" of 20 arrivals")),
                "{report}"
            );
            assert!(statuses(rows, 301) > 10, "{report}");
        },
    );
    // A redirect is a response like any other where the user does not want it followed.
    check(|options| following(options, "/moved", 0), |_, rows| assert_eq!(statuses(rows, 301), rows.len()));
}

#[test]
fn a_redirect_says_whether_the_body_is_sent_there() {
    for of in ["/form", "/upload"] {
        check(
            |options| {
                following(options, of, 1);
                options.request.body = Some("12345".into());
                options.request.headers = vec![("Content-Type".to_owned(), "text/plain".to_owned())];
            },
            |report, rows| {
                assert_eq!(report.summary.errors.total(), 0, "{report}");
                assert!(statuses(rows, 200) > 10 && statuses(rows, 200) + 1 >= rows.len() / 2, "{report}");
            },
        );
    }
}

#[test]
fn redirects_that_lead_too_far_are_errors_that_say_so() {
    for (of, redirects, reason) in [
        ("/round", 3, "redirected more than 3 times"),
        ("/away", 3, "redirected to http://other.example/x, which is not on this server"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let Some(nginx) = start(root.path()) else { return };
        let mut options = options("127.0.0.1:1".parse().unwrap());
        following(&mut options, of, redirects);
        options.target = format!("{}{of}", nginx.url()).parse().unwrap();
        let summary = run(&options).summary;
        assert_eq!(summary.error_details[0].reason, reason);
        assert!(!summary.status.contains_key(&200), "{summary:?}");
    }
}

#[test]
fn sessions_keep_the_cookies_of_redirects_and_take_from_where_they_lead() {
    let text = "kind = \"sessions\"\n[[page]]\nurl = \"/enter\"\nexpect = 200\n\
        take = { name = \"json:/name\" }\n[[page]]\nurl = \"/of/${name}\"\nexpect = 200\n";
    let workload = traffic::Workload::parse(&config::Source::new("test.toml", text)).unwrap();
    check(
        |options| {
            options.script =
                load::Script::Sessions { workload: Box::new(workload.clone()), text: text.to_owned() };
            options.load = closed(1);
            options.protocol.redirects = 1;
        },
        |report, _| {
            assert_eq!(report.summary.errors.total(), 0, "{:?}", report.summary.error_details);
            assert!(report.summary.sessions.completed > 10, "{report}");
            assert_eq!(report.summary.sessions.by_class["all"].error, 0, "{report}");
        },
    );
}

#[test]
fn a_small_body_is_sent_before_the_response_is_here() {
    let work = crate::common::web(|_| crate::common::ok(2));
    let root = tempfile::tempdir().unwrap();
    let proxy = format!("location / {{ proxy_pass http://{}; }}", work.address());
    let Some(nginx) = Nginx::start(root.path(), &proxy) else { return };
    let plain = format!("http://{}", work.address());
    let urls = [plain.as_str(), nginx.url(), nginx.tls_url(), nginx.tls_url()].map(str::to_owned);
    for (backend, (http, url)) in BACKENDS.into_iter().flat_map(|backend| {
        let versions = [Http::Http11, Http::Http11, Http::Http11, Http::Http2];
        versions.into_iter().zip(&urls).map(move |case| (backend, case))
    }) {
        let mut options = options("127.0.0.1:1".parse().unwrap());
        options.target = url.parse().unwrap();
        options.backend = backend;
        options.protocol = Protocol { http, insecure: true, ..Protocol::default() };
        options.request.body = Some("a=1".into());
        options.count = Some(100);
        options.duration = Span::from_secs(20);
        let report = run(&options);
        let latency = &report.summary.latency;
        assert_eq!((report.summary.responses, latency.sending.count), (100, 100), "{report}");
        // However quick the server is, it takes more than no time.
        assert!(latency.processing.p50 > 0.0, "{http} {url} {backend:?}: {report}");
    }
}
