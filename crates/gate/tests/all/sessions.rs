//! Sessions: the class is found once, and travels in a sealed cookie.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use crate::common::{Gate, echo, session};
use testkit::{PATIENCE, poll_until};

fn arrived(gate: &Gate, class: usize) -> u64 {
    gate.state()["classes"][class]["arrived"].as_u64().unwrap()
}

#[test]
fn the_cookie_carries_the_class() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let first = gate.get("/", "Cookie: tier=premium\r\n");
    let cookie = first.header("set-cookie").unwrap();
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let second = gate.get("/", &session(&first));
    assert_eq!(second.header("set-cookie"), None);
    assert_eq!((arrived(&gate, 0), arrived(&gate, 1)), (2, 0));
    assert_eq!(gate.get("/", "").status, 200);
    assert_eq!((arrived(&gate, 0), arrived(&gate, 1)), (2, 1));
}

#[test]
fn a_cookie_is_no_cache_s_to_give_to_others() {
    for (says, expected) in [
        ("", &["private"][..]),
        ("cache-control: max-age=0, must-revalidate\r\n", &["max-age=0, must-revalidate", "private"]),
        ("cache-control: max-age=60, Private\r\n", &["max-age=60, Private"]),
        ("cache-control: no-store\r\n", &["no-store"]),
    ] {
        let server = echo(says);
        let gate = Gate::start(server.address(), "");
        let lines = |response: &testkit::Response| {
            let lines = response.head.lines().filter_map(|line| line.strip_prefix("cache-control: "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let first = gate.get("/", "");
        assert_eq!(lines(&first), expected, "{says:?}");
        // Without the gate's cookie it is the server's business.
        let second = gate.get("/", &session(&first));
        assert_eq!(lines(&second).join(", "), says.trim_start_matches("cache-control: ").trim_end());
    }
}

#[test]
fn a_forged_token_is_a_new_session() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let token = session(&gate.get("/", "Cookie: tier=premium\r\n"));
    let forged = token.replace("headworks=A", "headworks=B");
    assert_ne!(forged, token);
    assert!(gate.get("/", &forged).header("set-cookie").is_some());
    assert_eq!((arrived(&gate, 0), arrived(&gate, 1)), (1, 1));
}

#[test]
fn of_several_cookies_the_first_that_holds_counts() {
    let server = echo("");
    let gate = Gate::start(server.address(), "");
    let token = session(&gate.get("/", "Cookie: tier=premium\r\n")).trim_end()["Cookie: ".len()..].to_owned();
    let other = token.replace("headworks=A", "headworks=B");
    // In one header and in several, behind what was never ours and behind what no longer holds.
    for lines in [
        format!("Cookie: headworks=; headworks=x; {other}; {token}\r\n"),
        format!("Cookie: a=1; {other}\r\nCookie: {token}; {other}\r\n"),
        format!("Cookie: {}{token}\r\n", "headworks=x; ".repeat(7)),
    ] {
        let answer = gate.get("/", &lines);
        assert_eq!(answer.header("set-cookie"), None, "{lines}");
        assert!(!answer.text().contains("headworks="), "all of them stay here: {}", answer.text());
    }
    assert_eq!((arrived(&gate, 0), arrived(&gate, 1)), (4, 0));
    // There is an end to trying.
    let many = format!("Cookie: {}{token}\r\n", "headworks=x; ".repeat(8));
    assert!(gate.get("/", &many).header("set-cookie").is_some());
    assert_eq!((arrived(&gate, 0), arrived(&gate, 1)), (4, 1));
}

#[test]
fn tokens_are_renewed_and_expire() {
    let server = echo("");
    let gate = Gate::start(server.address(), "[session]\nidle = '400ms'\n");
    let first = session(&gate.get("/", "Cookie: tier=premium\r\n"));
    // Renewed as premium when a quarter of the idle time is over, then new and basic.
    poll_until(PATIENCE, "a renewed cookie", || {
        gate.get("/", &first).header("set-cookie").map(str::to_owned)
    });
    poll_until(PATIENCE, "the session to end", || {
        gate.get("/", &first);
        (arrived(&gate, 1) > 0).then_some(())
    });
    assert!(arrived(&gate, 0) >= 2);
}

#[test]
fn sessions_survive_a_restart_and_a_new_secret() {
    let server = echo("");
    let old = Gate::start(server.address(), "[session]\nsecret = 'the first secret of two'\n");
    let cookie = session(&old.get("/", "Cookie: tier=premium\r\n"));
    drop(old);
    let more =
        "[session]\nsecret = 'the second secret of two'\nprevious-secret = 'the first secret of two'\n";
    let new = Gate::start(server.address(), more);
    assert_eq!(new.get("/", &cookie).header("set-cookie"), None);
    assert_eq!(arrived(&new, 0), 1);
    let stranger = Gate::start(server.address(), "[session]\nsecret = 'the second secret of two'\n");
    assert!(stranger.get("/", &cookie).header("set-cookie").is_some());
}

#[test]
fn the_back_end_raises_a_session() {
    let server = echo("Headworks-Class: premium\r\n");
    let gate = Gate::start(server.address(), "");
    let first = gate.get("/", "");
    assert_eq!(first.header("headworks-class"), None);
    let cookie = session(&first);
    assert_eq!(gate.get("/", &cookie).header("set-cookie"), None, "raised only once");
    assert_eq!((arrived(&gate, 0), arrived(&gate, 1)), (1, 1));
}

#[test]
fn a_class_is_never_lowered() {
    let server = echo("Headworks-Class: basic\r\n");
    let gate = Gate::start(server.address(), "");
    let cookie = session(&gate.get("/", "Cookie: tier=premium\r\n"));
    assert_eq!(gate.get("/", &cookie).header("set-cookie"), None);
    assert_eq!(arrived(&gate, 0), 2);
    let server = echo("Headworks-Class: platinum\r\n");
    let gate = Gate::start(server.address(), "[session]\nsecure = true\ncookie = 'id'\n");
    let first = gate.get("/", "");
    assert!(first.header("set-cookie").unwrap().starts_with("id="));
    assert!(first.header("set-cookie").unwrap().ends_with("; Secure"));
}

/// Answers with the header lines that the request's `X-Want` names.
fn wanted() -> testkit::Hostile {
    testkit::Hostile::start(|stream, _| {
        while let Some(head) = crate::common::read_head(stream) {
            let lines = match () {
                () if head.contains("/shared") => "Cache-Control: public, max-age=600\r\n",
                () if head.contains("/fresh") => "Cache-Control: max-age=600\r\n",
                () if head.contains("/own") => "Cache-Control: max-age=600\r\nSet-Cookie: a=b\r\n",
                () if head.contains("/raised") => "Cache-Control: public\r\nHeadworks-Class: premium\r\n",
                () => "",
            };
            if crate::common::answer(stream, lines, "").is_none() {
                break;
            }
        }
    })
}

#[test]
fn what_a_shared_cache_may_keep_passes_as_it_is() {
    let server = wanted();
    let gate = Gate::start(server.address(), "");
    for (path, control) in [("/shared", "public, max-age=600"), ("/fresh", "max-age=600")] {
        let response = gate.get(path, "");
        assert_eq!((response.header("set-cookie"), response.header("cache-control")), (None, Some(control)));
        assert_eq!(response.head.to_lowercase().matches("cache-control").count(), 1, "{}", response.head);
    }
    // The session begins with the next response that is one client's own.
    for path in ["/", "/own", "/raised"] {
        let head = gate.get(path, "").head;
        assert!(head.contains("headworks=") && head.contains("private"), "{path}: {head}");
    }
    let authorized = gate.get("/fresh", "Authorization: Basic eDp5\r\n");
    assert!(authorized.head.contains("headworks="), "{}", authorized.head);
}

#[test]
fn paths_can_be_left_without_sessions() {
    let server = wanted();
    let gate = Gate::start(server.address(), "[session]\nexcept = ['/assets/*', '/icon']\n");
    for path in ["/assets/a.css", "/icon.png?x"] {
        let response = gate.get(path, "");
        assert_eq!((response.header("set-cookie"), response.header("cache-control")), (None, None), "{path}");
    }
    let begun = session(&gate.get("/page", ""));
    assert_eq!(gate.get("/assets/a.css", &begun).header("set-cookie"), None);
}

#[test]
fn one_class_without_rules_needs_no_cookie() {
    let server = wanted();
    let with = |more: &str| {
        let text = format!("listen = '127.0.0.1:0'\nupstream = '{}'\n{more}", server.address());
        Gate::run(&text, std::path::Path::new("."))
    };
    let one = "[[class]]\nname = 'all'\n";
    let response = with(one).get("/", "");
    assert_eq!((response.header("set-cookie"), response.header("cache-control")), (None, None));
    let two = format!("{one}[[class]]\nname = 'rest'\n");
    assert!(with(&two).get("/", "").header("set-cookie").is_some());
}
