//! The class of a session that is there: raised by what it reaches, set by an operator.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::Write;
use std::net::TcpStream;

use crate::common::{Gate, echo, read_head, session};
use testkit::{Hostile, Response};

/// What explain mode says: class, rule and session.
#[track_caller]
fn explained(response: &Response) -> (&str, &str, &str) {
    let header = |name| response.header(name).unwrap_or_else(|| panic!("no {name} in {}", response.head));
    (header("headworks-class"), header("headworks-rule"), header("headworks-session"))
}

const RAISE: &str = r#"
explain = "on"
[[raise]]
class = "premium"
path = "/checkout/"
[[raise]]
class = "premium"
when = "request.path == '/wait' && session.age >= 3600"
"#;

#[test]
fn a_session_is_raised_by_what_it_reaches_and_stays_so() {
    let server = echo("");
    let gate = Gate::start(server.address(), RAISE);
    let first = gate.get("/checkout/", "");
    assert_eq!(
        (explained(&first).0, explained(&first).1),
        ("basic", "none"),
        "it begins there and is not raised"
    );
    let cookie = session(&first);
    let wait = gate.get("/wait", &cookie);
    assert_eq!((explained(&wait).0, wait.header("set-cookie")), ("basic", None), "it is not old enough");
    let raised = gate.get("/checkout/cart", &cookie);
    assert_eq!((explained(&raised).0, explained(&raised).1), ("premium", "raise 1"));
    let cookie = session(&raised);
    let later = gate.get("/", &cookie);
    assert_eq!(
        (explained(&later).0, explained(&later).1),
        ("premium", "raised"),
        "nobody is lowered by a rule"
    );
    assert_eq!(explained(&later).2, explained(&first).2, "it is the same session");
    assert_eq!(later.header("set-cookie"), None);
    let metrics = gate.ask("GET", "/metrics", "");
    assert!(
        metrics.text().contains("headworks_gate_sessions_raised_total{by=\"rule\"} 1\n"),
        "{}",
        metrics.text()
    );
}

#[test]
fn sessions_that_rules_raise_later_are_counted() {
    let server = echo("");
    let gate = Gate::start(server.address(), "[[rule]]\nclass = \"premium\"\ncookie = \"tier=gold\"\n");
    let cookie = session(&gate.get("/", ""));
    let cookie = cookie.replace("\r\n", "; tier=gold\r\n");
    let raised = gate.get("/", &cookie);
    gate.get("/", &session(&raised));
    let metrics = gate.ask("GET", "/metrics", "");
    let counted = "headworks_gate_sessions_raised_total{by=\"rule\"} 1\n";
    assert!(metrics.text().contains(counted), "{}", metrics.text());
}

#[test]
fn an_operator_raises_and_lowers_a_session() {
    let server = echo("Headworks-Class: premium\r\n");
    let gate = Gate::start(server.address(), "explain = 'on'");
    let first = gate.get("/", "");
    let (cookie, id) = (session(&first), explained(&first).2.to_owned());
    let path = format!("/api/v1/sessions/{id}/class");
    assert_eq!(explained(&gate.get("/", &cookie)).1, "raised", "by the back-end");

    let set = gate.ask("POST", &path, "{\"class\": \"basic\"}");
    assert_eq!(set.status, 200, "{}", set.text());
    let lowered = gate.get("/", &cookie);
    assert_eq!((explained(&lowered).0, explained(&lowered).1), ("basic", "operator"));
    let lowered = session(&lowered);
    for token in [&cookie, &lowered] {
        let again = gate.get("/", token);
        assert_eq!(explained(&again).0, "basic", "neither the back-end nor an older token changes it");
    }
    let all: serde_json::Value =
        serde_json::from_slice(&gate.ask("GET", "/api/v1/sessions", "").body).unwrap();
    assert_eq!((&all["sessions"][0]["session"], &all["sessions"][0]["class"]), (&id.into(), &"basic".into()));
    assert!(all["sessions"][0]["expires"].as_f64().unwrap() > 3600.0);

    assert_eq!(gate.ask("DELETE", &path, "").status, 200);
    assert_eq!(explained(&gate.get("/", &cookie)).0, "premium");
}

#[test]
fn decisions_are_explained_only_to_those_who_may_know() {
    let server = echo("");
    for (explain, headers) in
        [("'off'", false), ("'on'", true), ("['10.0.0.0/8', '127.0.0.0/8']", true), ("'10.0.0.0/8'", false)]
    {
        let gate = Gate::start(server.address(), &format!("explain = {explain}"));
        let response = gate.get("/", "Cookie: tier=premium\r\n");
        let decision = response.header("headworks-decision");
        assert_eq!(decision, headers.then_some("dispatched"), "{explain}");
        assert_eq!(response.header("headworks-rule"), headers.then_some("rule 1"), "{explain}");
    }
}

#[test]
fn a_refusal_is_explained_too() {
    let server = crate::common::Held::start();
    let more =
        "explain = 'on'\nwindow = 1\n[limits]\nclass-queues = 1\ndiscard-queues = 0\ndiscard-periods = 0\n";
    let gate = Gate::start(server.address(), more);
    let mut clients: Vec<_> = (0..10).map(|_| gate.connect()).collect();
    for client in &mut clients {
        client.send(crate::common::request("/", ""));
    }
    let refused = testkit::poll_until(testkit::PATIENCE, "a refusal", || {
        let mut client = gate.connect();
        client
            .send(crate::common::request("/", ""))
            .stream()
            .set_read_timeout(Some(std::time::Duration::from_millis(500)))
            .unwrap();
        let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| client.response()));
        read.ok().filter(|response| response.status == 503)
    });
    let decision = refused.header("headworks-decision").unwrap();
    assert!(decision.starts_with("refused, "), "{decision}");
    drop(clients);
}

/// A server whose answers have the status that the path ends with.
fn with_status() -> Hostile {
    Hostile::start(|mut stream: &TcpStream, _| {
        while let Some(head) = read_head(stream) {
            let path = head.split(' ').nth(1).unwrap_or_default();
            let status = path.rsplit('/').next().unwrap_or_default();
            if write!(stream, "HTTP/1.1 {status} Said\r\ncontent-length: 0\r\n\r\n").is_err() {
                break;
            }
        }
    })
}

#[test]
fn what_is_raised_by_a_response_waits_for_its_status() {
    let server = with_status();
    let raise = "explain = 'on'\n[[raise]]\nclass = 'premium'\npath = '/checkout/'\nstatus = [201, '3xx']\n";
    let gate = Gate::start(server.address(), raise);
    let cookie = session(&gate.get("/checkout/201", ""));
    for (path, headers) in [("/checkout/404", ""), ("/checkout/200", ""), ("/302", "")] {
        let response = gate.get(path, &format!("{cookie}{headers}"));
        assert_eq!((explained(&response).0, response.header("set-cookie")), ("basic", None), "{path}");
    }
    for path in ["/checkout/201", "/checkout/302"] {
        let reached = gate.get(path, &cookie);
        assert_eq!(explained(&reached).0, "basic", "the request that raises it is not of the class yet");
        let later = gate.get("/checkout/404", &session(&reached));
        assert_eq!((explained(&later).0, explained(&later).1), ("premium", "raised"));
    }
}

#[test]
fn who_logs_in_after_the_first_page_is_of_the_class_that_the_rules_give_by_then() {
    let server = echo("");
    let gate = Gate::start(server.address(), "explain = 'on'");
    let first = gate.get("/", "");
    assert_eq!(explained(&first).0, "basic");
    let cookie = session(&first);
    let with = |cookie: &str, more: &str| cookie.replace("\r\n", &format!("; {more}\r\n"));
    let other = gate.get("/", &with(&cookie, "tier=none"));
    assert_eq!((explained(&other).0, other.header("set-cookie")), ("basic", None));
    let logged_in = gate.get("/", &with(&cookie, "tier=premium"));
    assert_eq!((explained(&logged_in).0, explained(&logged_in).1), ("premium", "rule 1"));
    assert_eq!(explained(&logged_in).2, explained(&first).2, "it is the same session");
    let later = gate.get("/", &session(&logged_in));
    assert_eq!((explained(&later).0, explained(&later).1), ("premium", "session"));
    assert_eq!(later.header("set-cookie"), None);
}
