//! Configurations: what is wrong is named with its line and how to mend it.

mod common;

use std::fs;
use std::path::Path;

use config::Source;
use gate::{Bound, Error, Settings};

const LEAST: &str = "listen = '127.0.0.1:0'\nupstream = '127.0.0.1:8000'\n";

fn read(text: &str) -> Result<Settings, config::Error> {
    Settings::from_source(&Source::new("gate.toml", text), Path::new("."))
}

#[test]
fn two_lines_are_enough() {
    let settings = read(LEAST).unwrap().to_string();
    for line in [
        "class            premium, weight by differentiation",
        "rules            none: every request is of the last class",
        "window           adaptive, 1 to 256, at first 8",
        "upstream         127.0.0.1:8000",
    ] {
        assert!(settings.contains(line), "{line} in\n{settings}");
    }
}

#[track_caller]
fn check(text: &str, message: &str) {
    match read(text) {
        Ok(settings) => panic!("{text}\nis taken as\n{settings}"),
        Err(error) => assert_eq!(error.to_string(), message, "{text}"),
    }
}

/// What the two lines above are followed by, and the error: keys of the policy.
const POLICY: &[(&str, &str)] = &[
    ("widow = 3", "gate.toml:3: unknown key \"widow\"; did you mean \"window\"?"),
    ("window = 0", "gate.toml:3: the window is 0; it must be at least 1"),
    (
        "window = { min = 9, max = 3 }",
        "gate.toml:3: window from 9 to 3, starting at 8; 1 <= min <= initial <= max is needed",
    ),
    ("window = { mix = 9 }", "gate.toml:3: unknown key \"mix\"; did you mean \"max\"?"),
    (
        "window = 'adaptve'",
        "gate.toml:3: invalid value: string \"adaptve\", expected a number, \"adaptive\", or a table of min, max and initial",
    ),
    ("mode = 'shadw'", "gate.toml:3: unknown value \"shadw\"; did you mean \"shadow\"?"),
    ("look-ahead = 'far'", "gate.toml:3: look-ahead \"far\" is not known; give \"auto\" or a number"),
    ("look-ahead = 0", "gate.toml:3: the look-ahead is 0; it must be at least 1"),
    ("favour = 1.5", "gate.toml:3: cannot read \"1.5\": expected a share from 0 to 1 or a percentage"),
    (
        "period = '5 parsecs'",
        "gate.toml:3: cannot read \"5 parsecs\": expected a length of time such as 30s, 250ms, 5m or 2h",
    ),
    ("period = 0", "gate.toml: the period is 0; it must be at least 1"),
    ("backlog = 0", "gate.toml:3: backlog is 0; it must be at least 1"),
    (
        "gains = { q0 = 1.0, q1 = 0.5 }",
        "gate.toml:3: gains q0 = 1, q1 = 0.5 make admission unstable; q0 + q1 must be above 0, q1 between -2 and 0, q0 below 4 + q1",
    ),
    ("[limits]\nburst = 0", "gate.toml:4: the burst is 0; it must be at least 1"),
    (
        "window = 1\n[limits]\nacceptor-queue = 20_000_000",
        "gate.toml:5: the queues hold 20006067 requests in all; at most 16777216 are possible",
    ),
];

/// The same for rules.
const RULES: &[(&str, &str)] = &[
    (
        "[[rule]]\nclass = 'premum'\npath = '/'",
        "gate.toml:4: class \"premum\" is not defined; did you mean \"premium\"?",
    ),
    (
        "[[rule]]\nclass = 'premium'",
        "gate.toml:4: this rule has no condition, so every request would match; add host, path, query, header, cookie, address, method or when; the last class needs no rule",
    ),
    (
        "[[rule]]\nclass = 'premium'\naddress = ['10.0.0.0/8', '10.0.0/8']",
        "gate.toml:5: \"10.0.0/8\" is not an address; for example \"192.0.2.7\", \"10.0.0.0/8\" or \"2001:db8::/32\"",
    ),
    (
        "[[rule]]\nclass = 'premium'\npath = 'checkout'",
        "gate.toml:5: \"checkout\" matches no path; paths begin with \"/\", patterns may begin with \"*\"",
    ),
    (
        "[[rule]]\nclass = 'premium'\nhost = 'https://a'",
        "gate.toml:5: \"https://a\" is not a host name; without scheme and port, for example \"*.example.com\"",
    ),
    (
        "[[rule]]\nclass = 'premium'\nheader = 'X Y: 1'",
        "gate.toml:5: \"X Y: 1\" is not a header; for example \"X-Tier: gold\"",
    ),
    (
        "[[rule]]\nclass = 'premium'\ncookie = '=1'",
        "gate.toml:5: \"=1\" is not a cookie; for example \"tier=premium\"",
    ),
];

/// The same for classes, sessions and refusals.
const CLASSES_AND_MORE: &[(&str, &str)] = &[
    ("[[class]]\nname = 'a'\n[[class]]\nname = 'a'", "gate.toml:6: class \"a\" is defined twice"),
    ("[[class]]\nname = 'a b'", "gate.toml:4: \"a b\" cannot name a class; use letters, digits, - and _"),
    (
        "[[class]]\nname = 'a'\nweight = -1",
        "gate.toml:5: weight -1 of class 0; a weight must lie between 0.001 and 1000000",
    ),
    (
        "[session]\nsecret = 'short'",
        "gate.toml:4: a secret of 5 bytes is too short; at least 16 are needed; \"openssl rand -base64 32\" makes one",
    ),
    (
        "[session]\nprevious-secret = 'long enough to be one'",
        "gate.toml:4: a previous secret is given, but no secret; add secret or secret-file",
    ),
    (
        "[session]\nsecret-file = '/nowhere/at/all'",
        "gate.toml:4: cannot read /nowhere/at/all: No such file or directory (os error 2)",
    ),
    ("[session]\ncookie = 'a=b'", "gate.toml:4: \"a=b\" cannot name a cookie; use letters, digits, - and _"),
    (
        "[reject]\nstatus = 200",
        "gate.toml:4: status 200 does not refuse anything; give one from 400 to 599, for example 503",
    ),
];

#[test]
fn errors_name_line_thing_and_mend() {
    for (more, message) in [POLICY, RULES, CLASSES_AND_MORE].concat() {
        check(&format!("{LEAST}{more}\n"), message);
    }
    check("upstream = 'a:1'", "gate.toml:1: key \"listen\" is missing");
    check(
        "listen = '127.0.0.1'\nupstream = 'a:1'",
        "gate.toml:1: \"127.0.0.1\" is not an address to listen on; give an IP address and a port, for example \"127.0.0.1:8080\"",
    );
    check(
        "listen = '127.0.0.1:1'\nadmin = '127.0.0.1:1'\nupstream = 'a:1'",
        "gate.toml:2: admin and listen are both 127.0.0.1:1; give the admin interface a port of its own",
    );
    check(
        "listen = '127.0.0.1:0'\nupstream = 'server'",
        "gate.toml:2: upstream \"server\" is not a server's address; give host and port, for example \"127.0.0.1:8000\"",
    );
    check(
        "listen = '127.0.0.1:0'\n[upstream]\naddress = 'https://server'",
        "gate.toml:3: upstream \"https://server\" asks for TLS, which the gate does not speak; give a plain http port",
    );
}

#[test]
fn files_are_found_next_to_the_configuration() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("gate.toml");
    fs::write(directory.path().join("key"), "a secret that is long enough\n").unwrap();
    fs::write(directory.path().join("busy.html"), "<h1>Later</h1>").unwrap();
    fs::write(&file, format!("{LEAST}[session]\nsecret-file = 'key'\n[reject]\nbody-file = 'busy.html'\n"))
        .unwrap();
    let settings = Settings::read(&file).unwrap();
    assert!(settings.to_string().contains("one secret"));
    let missing = Settings::read(&directory.path().join("none.toml")).unwrap_err().to_string();
    assert!(missing.contains("none.toml: cannot read it: No such file"), "{missing}");
}

#[test]
fn the_manual_s_configuration_is_valid() {
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gate.md")).unwrap();
    let mut examples = 0;
    for block in manual.split("```toml\n").skip(1) {
        let text = block.split("```").next().unwrap();
        if let Err(error) = read(text) {
            panic!("{error}\n{text}");
        }
        examples += 1;
    }
    assert!(examples >= 2);
}

#[test]
fn what_cannot_be_had_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let settings = Settings::new(address, "127.0.0.1:1").unwrap();
    let error = Bound::new(settings).unwrap_err().to_string();
    let message = format!(
        "cannot listen on {address}: Address already in use (os error 98); another program listens there; choose another port or stop that program"
    );
    assert_eq!(error, message);

    let settings = Settings::new("127.0.0.1:0".parse().unwrap(), "no-such-host.invalid:80").unwrap();
    let error = Bound::new(settings).unwrap_err();
    assert!(matches!(error, Error::Upstream { .. }));
    assert!(error.to_string().starts_with("cannot find upstream no-such-host.invalid:80: "), "{error}");
}
