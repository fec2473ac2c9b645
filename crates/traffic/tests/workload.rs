//! Workload files that are right, and the errors of those that are not.

use config::Source;
use traffic::{Think, Workload};
use units::Span;

const BANK: &str = r#"
kind = "sessions"
timeout = "2s"
connections = 6

[[class]]
name = "premium"
share = 0.2
cookie = "tier=premium"

[[class]]
name = "basic"
share = "80%"
header = { X-Tier = "basic" }
address = "127.0.0.2"

[[page]]
url = "/burn?cpu=25ms"
think = "200ms"
embedded = ["/bytes/2000", "/bytes/8000"]

[[page]]
url = "/bye"
"#;

fn parse(text: &str) -> Result<Workload, String> {
    Workload::parse(&Source::new("w.toml", text)).map_err(|error| error.to_string())
}

#[test]
fn everything_is_read() {
    let workload = parse(BANK).unwrap();
    assert_eq!((workload.timeout, workload.connections), (Span::from_secs(2), 6));
    assert_eq!(workload.shares(), [0.2, 0.8]);
    assert_eq!(workload.requests_per_session(), 4);
    let [premium, basic] = workload.classes.as_slice() else { panic!("two classes") };
    assert_eq!(premium.cookie, Some(("tier".to_owned(), "premium".to_owned())));
    assert_eq!(basic.headers, [("X-Tier".to_owned(), "basic".to_owned())]);
    assert_eq!(basic.address, "127.0.0.2".parse().ok());
    assert_eq!(
        (workload.pages[0].think, workload.pages[1].think),
        (Think::constant(Span::from_millis(200)), Think::default())
    );
    assert_eq!(workload.pages[0].embedded.len(), 2);
}

#[test]
fn what_is_left_out_has_a_default() {
    let workload = parse("kind = 'sessions'\n[[page]]\nurl = '/'").unwrap();
    assert_eq!((workload.timeout, workload.connections), (Span::from_secs(20), 4));
    assert_eq!((&*workload.classes[0].name, workload.classes[0].share), ("all", 1.0));
}

/// Replaces `from` by `to` in a good file and expects exactly this error.
#[track_caller]
fn check(from: &str, to: &str, error: &str) {
    assert!(BANK.contains(from), "{from}");
    assert_eq!(parse(&BANK.replacen(from, to, 1)).map(drop), Err(error.to_owned()));
}

#[test]
fn errors_name_line_thing_and_mend() {
    check("timeout", "timeuot", "w.toml:3: unknown key \"timeuot\"; did you mean \"timeout\"?");
    check(
        "\"200ms\"",
        "\"weibull:1s\"",
        "w.toml:19: cannot read \"weibull:1s\": expected a time, exp:MEAN, uniform:LEAST:MOST or lognormal:MEAN:CV",
    );
    check("think", "tink", "w.toml:19: unknown key \"tink\"; did you mean \"think\"?");
    check("\"sessions\"", "\"session\"", "w.toml:2: unknown value \"session\"; did you mean \"sessions\"?");
    check("\"2s\"", "\"0s\"", "w.toml:3: timeout is 0; give a time above 0, such as \"20s\"");
    check("= 6", "= 0", "w.toml:4: connections is 0; it must be 1 to 256");
    check("0.2", "0.3", "w.toml:11: the shares of the classes sum to 1.1; they must sum to 1");
    check("0.2", "0", "w.toml:8: share is 0; leave the class out, or give it a share");
    check("\"basic\"", "\"premium\"", "w.toml:12: class \"premium\" is defined twice");
    check("tier=premium", "premium", "w.toml:9: \"premium\" is not a cookie; write it as \"name=value\"");
    check("X-Tier", "\"X Tier\"", "w.toml:14: \"X Tier\" is not a header name");
    check(
        "127.0.0.2",
        "lo",
        "w.toml:15: \"lo\" is not an IP address; give the source address of this class, such as \"127.0.0.2\"",
    );
    check(
        "/bytes/8000",
        "bytes/8000",
        "w.toml:20: \"bytes/8000\" does not start with \"/\"; give path and query; the host is on the command line",
    );
    check(
        "/bye",
        "/good bye",
        "w.toml:23: \"/good bye\" holds a character that cannot stand in a URL; write it as %XX",
    );
    let no_page = &BANK[..BANK.find("[[page]]").unwrap()];
    assert_eq!(parse(no_page).unwrap_err(), "w.toml: there is no page; add [[page]] with a url");
}
