//! Settings of the gate as a service: what they come to, and what is wrong with them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;

use config::Source;
use gate::Settings;

const MINIMAL: &str = "listen = '127.0.0.1:0'\nupstream = 'a:1'\n";

fn read(more: &str) -> Result<Settings, String> {
    let source = Source::new("gate.toml", format!("{MINIMAL}{more}"));
    Settings::from_source(&source, Path::new("/etc/headworks")).map_err(|error| error.to_string())
}

#[test]
fn paths_are_those_beside_the_configuration() {
    let settings = read(
        "[operation]\ncontrol = 'gate.sock'\nuser = 'www-data'\naccess-log = '../../var/log/access.log'\n\
         [telemetry]\nendpoint = 'http://[::1]:4318/otlp/'\nsample = '5%'\nfollow = true\n",
    )
    .unwrap()
    .to_string();
    for line in [
        "access log       /etc/headworks/../../var/log/access.log\n",
        "control          /etc/headworks/gate.sock\n",
        "user             www-data\n",
        "telemetry        5.0% of the requests, and what clients record, metrics every 10s, \
         to http://[::1]:4318/otlp as headworks-gate\n",
    ] {
        assert!(settings.contains(line), "{line:?} in {settings}");
    }
    let settings = read("[operation]\naccess-log = 'stdout'\n").unwrap().to_string();
    assert!(settings.contains("access log       standard output\n"), "{settings}");
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (more, message) in [
        (
            "[operation]\ngroup = 'www-data'",
            "gate.toml:4: a group is given, but no user; add user: only together do they take root's rights away",
        ),
        ("[operation]\naccess-log = ''", "gate.toml:4: access-log is empty; name one, or leave the line out"),
        (
            "[operation]\nacces-log = 'a'",
            "gate.toml:4: unknown key \"acces-log\"; did you mean \"access-log\"?",
        ),
        (
            "[telemetry]\nendpoint = 'https://collector:4318'",
            "gate.toml:4: \"https://collector:4318\" is no collector's address; give http:// with host and port, for \
             example \"http://127.0.0.1:4318\"",
        ),
        (
            "[telemetry]\nendpoint = 'http://collector'",
            "gate.toml:4: \"http://collector\" is no collector's address; give http:// with host and port, for \
             example \"http://127.0.0.1:4318\"",
        ),
        (
            "[telemetry]\ninterval = '10ms'",
            "gate.toml: telemetry's interval is shorter than a second; give at least \"1s\"",
        ),
    ] {
        assert_eq!(read(more).unwrap_err(), message, "{more}");
    }
}
