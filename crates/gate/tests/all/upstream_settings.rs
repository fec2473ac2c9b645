//! Configurations of servers and tunnels: what is wrong is named with its line and how to mend it.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;

use config::Source;
use gate::Settings;

fn read(text: &str) -> Result<Settings, config::Error> {
    let text = format!("listen = '127.0.0.1:0'\n{text}\n");
    Settings::from_source(&Source::new("gate.toml", text), Path::new("."))
}

#[test]
fn what_is_given_is_shown() {
    let settings = read(
        "[upstream]\nserver = ['a:1', { address = 'https://b:2', weight = 3, http = 2 }]\nlook-up = '1m'\n\
         [upstream.check]\npath = '/up'\nstatus = 204\n[upstream.retry]\nshare = '20%'\n[tunnels]\nmost = 7\n",
    )
    .unwrap()
    .to_string();
    for line in [
        "upstream         a:1, HTTP/1.1, weight 1\n",
        "upstream         b:2, HTTP/2 and TLS, weight 3\n",
        "look-up 60s\n",
        "checks           /up every 5s, timeout 2s, status 204-204, 2 to be well, 3 to be ill\n",
        "ejection         5 failures, 5s to 300s, at most 50.0%\n",
        "retries          20.0% of the requests and 3/s\n",
        "tunnels          websocket, at most 7 (a quarter of the connections at most), idle 300s, drain 10s\n",
    ] {
        assert!(settings.contains(line), "{line} in\n{settings}");
    }
}

#[test]
fn errors_name_line_thing_and_mend() {
    for (text, message) in [
        (
            "[upstream]\ntimeout = '1s'",
            "gate.toml: upstream names no server; add address = \"host:port\", or [[upstream.server]] for several",
        ),
        (
            "[upstream]\nserver = ['a:1', 'http://a:1/']",
            "gate.toml:3: server \"a:1\" is named twice; give it a weight instead",
        ),
        (
            "[[upstream.server]]\naddress = 'a:1'\nweight = 0",
            "gate.toml:4: weight is 0; it must be at least 1",
        ),
        (
            "[[upstream.server]]\naddress = 'a:1'\nhttp = 3",
            "gate.toml:4: HTTP version 3 is not spoken to servers; give 1 or 2",
        ),
        (
            "[[upstream.server]]\naddress = 'a:1'\nwight = 3",
            "gate.toml:4: unknown key \"wight\"; did you mean \"weight\"?",
        ),
        (
            "[upstream]\naddress = 'https://:443'",
            "gate.toml:3: upstream \"https://:443\" is not a server's address; give host and port, for example \"127.0.0.1:8000\"",
        ),
        (
            "[upstream]\naddress = 'a:1'\n[upstream.check]\npath = 'health'",
            "gate.toml:5: \"health\" is no path; begin it with \"/\"",
        ),
        (
            "[upstream]\naddress = 'a:1'\n[upstream.check]\nstatus = '399-200'",
            "gate.toml:5: status is not one of HTTP; give a status or a range, for example 200 or \"200-399\"",
        ),
        (
            "[upstream]\naddress = 'a:1'\n[upstream.ejection]\nfailures = 0",
            "gate.toml:5: failures is 0; it must be at least 1",
        ),
        (
            "upstream = 'a:1'\n[tunnels]\nprotocols = ['websocket', 'h2c']",
            "gate.toml:4: a tunnel of h2c would carry requests that nobody sees; leave it out",
        ),
        (
            "upstream = 'a:1'\n[tunnels]\nprotocols = ['TLS/1.0']",
            "gate.toml:4: \"tls/1.0\" is not the name of a protocol; give for example \"websocket\"",
        ),
    ] {
        assert_eq!(read(text).map(|_| ()).unwrap_err().to_string(), message, "{text}");
    }
}
