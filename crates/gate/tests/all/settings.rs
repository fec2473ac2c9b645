//! Configurations: what is wrong is named with its line and how to mend it.

use std::fs;
use std::path::Path;

use config::Source;
use gate::{Bound, Error, Settings};

const MINIMAL: &str = "listen = '127.0.0.1:0'\nupstream = '127.0.0.1:8000'\n";

fn read(text: &str) -> Result<Settings, config::Error> {
    Settings::from_source(&Source::new("gate.toml", text), Path::new("."))
}

#[test]
fn two_lines_are_enough() {
    let settings = read(MINIMAL).unwrap().to_string();
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
        "gate.toml:3: \"adaptve\" cannot stand here; expected a number, \"adaptive\", or a table of min, max and initial",
    ),
    ("mode = 'shadw'", "gate.toml:3: unknown value \"shadw\"; did you mean \"shadow\"?"),
    ("look-ahead = 'far'", "gate.toml:3: look-ahead \"far\" is not known; give \"auto\" or a number"),
    ("look-ahead = 0", "gate.toml:3: the look-ahead is 0; it must be at least 1"),
    ("favour = 1.5", "gate.toml:3: cannot read \"1.5\": expected a share from 0 to 1 or a percentage"),
    (
        "period = '5 parsecs'",
        "gate.toml:3: cannot read \"5 parsecs\": expected a length of time such as 30s, 250ms, 5m or 2h",
    ),
    (
        "period = 0",
        "gate.toml:3: a period of 0s is too short; give at least \"10ms\"; \"250ms\" is good for most",
    ),
    ("backlog = 0", "gate.toml:3: backlog is 0; it must be at least 1"),
    (
        "gains = { q0 = 1.0, q1 = 0.5 }",
        "gate.toml:3: gains q0 = 1, q1 = 0.5 make admission unstable; q0 + q1 must be above 0, q1 between -2 and 0, q0 below 4 + q1",
    ),
    ("[limits]\nburst = 0", "gate.toml:4: the burst is 0; it must be at least 1"),
    (
        "window = 1\n[limits]\nacceptor-queue = 20_000_000",
        "gate.toml:5: the queues hold 20022451 requests in all; at most 16777216 are possible",
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
        "gate.toml:4: this rule has no condition, so every request would match; add host, path, query, header, cookie, address, server-name, method or when; the last class needs no rule",
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
        "gate.toml:4: cannot read /nowhere/at/all: No such file or directory (os error 2); \"openssl rand -base64 32\" makes one; only the gate's user should be able to read it",
    ),
    ("[session]\ncookie = 'a=b'", "gate.toml:4: \"a=b\" cannot name a cookie; use letters, digits, - and _"),
    (
        "[reject]\nstatus = 200",
        "gate.toml:4: status 200 does not refuse anything; give one from 400 to 599, for example 503",
    ),
];

/// The same for the admin interface, rules in CEL, and what is raised.
const ADMIN_AND_MORE: &[(&str, &str)] = &[
    (
        "admin = '0.0.0.0:9090'",
        "gate.toml:3: admin on 0.0.0.0:9090 would obey everybody who can reach it; add token-file to [admin], or listen on 127.0.0.1 or a socket",
    ),
    ("admin = 9090", "gate.toml:3: 9090 cannot stand here; expected a string or a table"),
    (
        "[admin]\nhosts = 'http://x'",
        "gate.toml:4: \"http://x\" is not a host name; without scheme and port, for example \"gate.example.com\"",
    ),
    ("[admin]\ntoken_file = 'x'", "gate.toml:4: unknown key \"token_file\"; did you mean \"token-file\"?"),
    ("explain = 'yes'", "gate.toml:3: explain is \"yes\"; give \"off\", \"on\" or a list of networks"),
    (
        "explain = ['10.0.0/8']",
        "gate.toml:3: \"10.0.0/8\" is not an address; for example \"192.0.2.7\", \"10.0.0.0/8\" or \"2001:db8::/32\"",
    ),
    (
        "[[rule]]\nclass = 'premium'\npath = []",
        "gate.toml:5: an empty list, so that no request would match; name what is to match, or leave the line out",
    ),
    (
        "[rule]\nclass = 'premium'",
        "gate.toml:3: a single table cannot stand here; expected a list of tables: write its name in double brackets, as in [[name]]",
    ),
    (
        "[[rule]]\nclass = 'premium'\nquery = '?x=1'",
        "gate.toml:5: \"?x=1\" is not a parameter of a query; a name, or name=value, without ? and &; for example \"campaign=spring*\"",
    ),
    (
        "[[rule]]\nclass = 'premium'\nwhen = \"request.path == 5\"",
        "gate.toml:5: when: text is compared with a number",
    ),
    (
        "[[rule]]\nclass = 'premium'\nwhen = \"\"\"\nrequest.path.startsWith('/a') &&\nrequest.header['x'] == 'y'\n\"\"\"",
        "gate.toml:7: when: request.header is not known; did you mean \"request.headers\"?",
    ),
    (
        "[[raise]]\nclass = 'basic'\npath = '/'",
        "gate.toml:4: nobody can be raised to \"basic\", which is the last class; name a class above it; a class is never lowered",
    ),
    (
        "[[rule]]\nclass = 'premium'\npath = '/'\nstatus = 200",
        "gate.toml:6: a [[rule]] is looked at before there is a response; status is for a [[raise]]; leave the line out here",
    ),
    (
        "[[raise]]\nclass = 'premium'\npath = '/'\nstatus = '1xx'",
        "gate.toml:6: \"1xx\" is not a status; for example 200 or \"2xx\", from 200 to 599",
    ),
    (
        "[[raise]]\nclass = 'premium'\nstatus = [200, '3xx']",
        "gate.toml:4: this rule has no condition, so every request would match; add host, path, query, header, cookie, address, server-name, method or when; the last class needs no rule",
    ),
    (
        "[client]\nheader-timeout = '0s'",
        "gate.toml:4: header-timeout is 0, so that everything would be given up at once; give a time, for example \"2s\"",
    ),
    (
        "[deadlines]\nclass = 0",
        "gate.toml:4: class is 0, so that everything would be given up at once; give a time, for example \"2s\"",
    ),
    (
        "[tunnels]\nidle-timeout = 0",
        "gate.toml:4: idle-timeout is 0, so that everything would be given up at once; give a time, for example \"2s\"",
    ),
    (
        "period = '1ns'",
        "gate.toml:3: a period of 1ns is too short; give at least \"10ms\"; \"250ms\" is good for most",
    ),
    (
        "[limits]\nmemory = '1KB'",
        "gate.toml:4: in 1000 bytes of memory nobody could be served; give at least \"16MiB\", or leave it out",
    ),
    ("[session]\nidle = 0", "gate.toml:4: idle is 0, so that no session would last; for example \"30m\""),
    (
        "[session]\nabsolute = '30m'\nidle = '1h'",
        "gate.toml:5: idle is 3600s and absolute 1800s; absolute is the longest that a session lasts in all; idle must not be above it",
    ),
    (
        "[reject]\nwaiting-page = 'none.html'",
        "gate.toml:4: cannot read ./none.html: No such file or directory (os error 2); name a file, or \"built-in\" for the page of the house",
    ),
    (
        "[reject]\nbody-file = 'a'\nwaiting-page = 'b'",
        "gate.toml:5: body-file and waiting-page are both what a refused client is shown; leave one of them out",
    ),
];

#[test]
fn files_of_tokens_and_pages_are_read_strictly() {
    let directory = tempfile::tempdir().unwrap();
    for (key, text, message) in [
        (
            "token-file",
            "ops short",
            "file:1: the token of ops is too short; at least 16 characters are needed",
        ),
        ("token-file", "ops 0123456789abcdef rw", "file:1: this is not a token; write a name, the token"),
        ("token-file", "# none\n", "file: it has no token; write a line of a name and a token"),
        ("token-file", "a 0123456789abcdef\na 0123456789abcdef", "file:2: \"a\" cannot name this token"),
        (
            "waiting-page",
            "<p>\n{{secs}}",
            "file: line 2: {{secs}} cannot be filled in; there are {{refresh}}, {{seconds}}, {{waiting}}",
        ),
        ("waiting-page", "{{seconds", "file: line 1: {{ without its }}"),
    ] {
        fs::write(directory.path().join("file"), text).unwrap();
        let table = if key == "token-file" { "admin" } else { "reject" };
        let source = Source::new("gate.toml", format!("{MINIMAL}[{table}]\n{key} = 'file'\n"));
        let error = Settings::from_source(&source, directory.path()).unwrap_err().to_string();
        assert!(error.starts_with("gate.toml:4: ") && error.contains(message), "{error}");
    }
}

#[test]
fn errors_name_line_thing_and_mend() {
    for (more, message) in [POLICY, RULES, CLASSES_AND_MORE, ADMIN_AND_MORE].concat() {
        check(&format!("{MINIMAL}{more}\n"), message);
    }
    check(
        "upstream = 'a:1'",
        "gate.toml: listen is missing; add listen = \"127.0.0.1:8080\" or a [[listener]]",
    );
    check(
        "listen = '127.0.0.1'\nupstream = 'a:1'",
        "gate.toml:1: \"127.0.0.1\" is not an address to listen on; give an IP address and a port, for example \"127.0.0.1:8080\"",
    );
    check(
        "listen = '127.0.0.1:1'\nadmin = '127.0.0.1:1'\nupstream = 'a:1'",
        "gate.toml:2: admin interface 127.0.0.1:1 is the same as listener 127.0.0.1:1 (gate.toml:1); give each a port of its own",
    );
    check(
        "upstream = 'a:1'\n[[listener]]\naddress = 'localhost:443'",
        "gate.toml:3: \"localhost:443\" is not an address to listen on; give an IP address and a port or a path, for \
         example \"0.0.0.0:443\", \"[::]:443\" or \"unix:/run/gate.sock\"",
    );
    check(
        "listen = '127.0.0.1:1'\nupstream = 'a:1'\n[[listener]]\naddress = '127.0.0.1:1'",
        "gate.toml:4: listener 127.0.0.1:1 is the same as listener 127.0.0.1:1 (gate.toml:1); give each a port of its own",
    );
    check(
        "upstream = 'a:1'\n[[listener]]\naddress = '127.0.0.1:1'\nprotocols = 'http/2'",
        "gate.toml:4: \"http/2\" is not a protocol that the gate speaks; give \"h2\", \"http/1.1\" or both",
    );
    check(
        "upstream = 'a:1'\n[[listener]]\naddress = '127.0.0.1:1'\nproxy-protocol = 'lan'",
        "gate.toml:4: \"lan\" is not an address; for example \"192.0.2.7\", \"10.0.0.0/8\" or \"2001:db8::/32\"",
    );
    check(
        "listen = '127.0.0.1:0'\nupstream = 'server'",
        "gate.toml:2: upstream \"server\" is not a server's address; give host and port, for example \"127.0.0.1:8000\"",
    );
    check(
        "listen = '127.0.0.1:0'\n[upstream]\naddress = 'https://server'",
        "gate.toml:3: upstream \"https://server\" is not a server's address; give host and port, for example \"127.0.0.1:8000\"",
    );
}

#[test]
fn files_are_found_next_to_the_configuration() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("gate.toml");
    fs::write(directory.path().join("key"), "a secret that is long enough\n").unwrap();
    fs::write(directory.path().join("busy.html"), "<h1>Later</h1>").unwrap();
    fs::write(&file, format!("{MINIMAL}[session]\nsecret-file = 'key'\n[reject]\nbody-file = 'busy.html'\n"))
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
    assert!(
        error.to_string().starts_with("--upstream: cannot find upstream no-such-host.invalid:80: "),
        "{error}"
    );
}
