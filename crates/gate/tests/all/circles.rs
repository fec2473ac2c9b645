//! What the gate is to connect to is looked up, and is not the gate itself.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;

use gate::{Bound, Error, Names, Settings};

fn read(text: &str) -> Settings {
    Settings::from_source(&config::Source::new("gate.toml", text), Path::new("/etc")).unwrap()
}

fn check(text: &str, names: Names) -> Result<String, String> {
    gate::check(&read(text), names).map(|checked| checked.to_string()).map_err(|why| why.to_string())
}

/// A port that no process has at the moment.
fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

#[test]
fn a_server_that_is_the_gate_itself_is_named_with_both_lines() {
    for (text, message) in [
        (
            "listen = '127.0.0.1:81'\nupstream = '127.0.0.1:81'",
            "gate.toml:2: upstream 127.0.0.1:81 is the gate itself: its listener is 127.0.0.1:81 (gate.toml:1); give \
             the address of the server behind it, or let the gate listen elsewhere",
        ),
        (
            "listen = '0.0.0.0:81'\n[upstream]\nserver = [\n'127.0.0.1:82',\n'localhost:81']",
            "gate.toml:5: upstream localhost:81 (127.0.0.1:81) is the gate itself: its listener is 0.0.0.0:81 \
             (gate.toml:1); give the address of the server behind it, or let the gate listen elsewhere",
        ),
        (
            "listen = '127.0.0.1:81'\nadmin = '127.0.0.1:82'\nupstream = '0.0.0.0:82'",
            "gate.toml:3: upstream 0.0.0.0:82 is the gate itself: its admin interface is 127.0.0.1:82 (gate.toml:2); \
             give the address of the server behind it, or let the gate listen elsewhere",
        ),
        (
            "upstream = '127.0.0.1:80'\n[admin]\nlisten = '127.0.0.1:82'\n[[listener]]\naddress = '[::]:81'\n\
             [telemetry]\nendpoint = 'http://127.0.0.1:81/otlp'",
            "gate.toml:7: collector 127.0.0.1:81 is the gate itself: its listener is [::]:81 (gate.toml:5); give the \
             address of the collector, or let the gate listen elsewhere",
        ),
    ] {
        assert_eq!(check(text, Names::LookedUp), Err(message.to_owned()), "{text}");
        let error = Bound::new(read(text)).unwrap_err();
        assert!(matches!(error, Error::Configuration(_)), "{error:?}");
        assert_eq!(error.to_string(), message, "{text}");
    }
    // Another port of this machine is another server.
    let text = "listen = '0.0.0.0:81'\nadmin = '127.0.0.1:82'\nupstream = 'localhost:80'";
    check(text, Names::LookedUp).unwrap();
}

#[test]
fn an_address_of_one_of_the_interfaces_is_the_gate_too() {
    // What this machine sends from; nothing is sent.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    if socket.connect("203.0.113.1:9").is_err() {
        eprintln!("skipped: this machine is connected to nothing");
        return;
    }
    let mine = SocketAddr::new(socket.local_addr().unwrap().ip(), 81);
    let error = check(&format!("listen = '0.0.0.0:81'\nupstream = '{mine}'"), Names::LookedUp).unwrap_err();
    assert!(error.starts_with(&format!("gate.toml:2: upstream {mine} is the gate itself")), "{error}");
    check(&format!("listen = '127.0.0.1:81'\nupstream = '{mine}'"), Names::LookedUp).unwrap();
    check("listen = '0.0.0.0:81'\nupstream = '203.0.113.1:81'", Names::LookedUp).unwrap();
}

#[test]
fn a_gate_that_refuses_to_start_takes_no_port() {
    let port = free_port();
    let (listen, upstream) = (format!("127.0.0.1:{port}"), format!("localhost:{port}"));
    Bound::new(Settings::new(listen.parse().unwrap(), &upstream).unwrap()).unwrap_err();
    TcpListener::bind(listen).unwrap();
}

#[test]
fn names_are_looked_up_and_where_they_lead_is_shown() {
    let one = "listen = '127.0.0.1:81'\nupstream = 'no-such-host.invalid:80'";
    let error = check(one, Names::LookedUp).unwrap_err();
    assert!(error.starts_with("gate.toml:2: upstream no-such-host.invalid:80 cannot be found: "), "{error}");
    assert!(error.ends_with("--offline checks the rest where it is not known"), "{error}");
    let shown = check(one, Names::NotLookedUp).unwrap();
    assert!(shown.contains("name             no-such-host.invalid:80: not looked up\n"), "{shown}");

    // A gate would start.
    let three = "listen = '127.0.0.1:81'\n[upstream]\n\
                 server = ['no-such-host.invalid:80', 'localhost:80', '127.0.0.1:82']";
    let shown = check(three, Names::LookedUp).unwrap();
    let names: Vec<&str> =
        shown.lines().filter_map(|line| line.strip_prefix("  name             ")).collect();
    let [lost, found] = names[..] else { panic!("{names:?}") };
    assert_eq!(
        lost,
        "no-such-host.invalid:80: cannot be found (note: the gate starts without it and looks it up again)"
    );
    assert!(found.starts_with("localhost:80: ") && found.contains("127.0.0.1"), "{found}");
}
