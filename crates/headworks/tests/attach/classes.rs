//! Classes that a session comes to by what the server answers.

use testkit::{PATIENCE, Raw, poll_until};

use crate::properties::{Gate, Site};
use crate::servers::Server;

/// The value of the session's cookie in a head.
pub(crate) fn cookie(head: &str) -> Option<String> {
    let line = head.lines().find_map(|line| line.strip_prefix("Set-Cookie: headworks="))?;
    Some(line.split(';').next().unwrap_or_default().to_owned())
}

fn raised(gate: &Gate) -> f64 {
    gate.metric("headworks_gate_sessions_raised_total")
}

/// Asks on a connection of its own; gives the head of the response, which names no class.
pub(crate) fn asked(server: &Server, path: &str, cookie: Option<&str>) -> String {
    let mut client = Raw::connect(server.address);
    let cookie = cookie.map_or(String::new(), |cookie| format!("Cookie: headworks={cookie}\r\n"));
    client.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{cookie}Connection: close\r\n\r\n"));
    let response = client.response();
    assert_eq!(response.status, 200);
    assert!(!response.head.to_lowercase().contains("headworks-class"), "{}", response.head);
    response.head
}

/// A client that begins with the page that raises it is told its session, and with its next request its class.
fn begins_as_premium(gate: &Gate, server: &Server) {
    gate.is_empty();
    let before = raised(gate);
    let first = cookie(&asked(server, "/login", None)).unwrap();
    poll_until(PATIENCE, "the session to be raised", || (raised(gate) > before).then_some(()));
    assert_ne!(cookie(&asked(server, Server::FAST, Some(&first))).unwrap(), first);
}

/// A client that asks for `path`, and for another page on another connection, is told of its new class once.
fn becomes_premium(gate: &Gate, server: &Server, path: &str) {
    let get = |path: &str, cookie: Option<&str>| asked(server, path, cookie);
    gate.is_empty();
    let before = raised(gate);
    let first = cookie(&get(Server::FAST, None)).unwrap();
    assert_eq!(cookie(&get(path, Some(&first))), None);
    poll_until(PATIENCE, "the session to be raised", || (raised(gate) > before).then_some(()));
    let second = cookie(&get(Server::FAST, Some(&first))).unwrap();
    assert_ne!(first, second);
    assert_eq!(cookie(&get(Server::FAST, Some(&second))), None, "told once");
    assert_eq!(raised(gate) - before, 1.0);
}

/// On one connection, without cookies: the next request on it is told.
fn becomes_premium_on_a_kept_connection(gate: &Gate, server: &Server) {
    gate.is_empty();
    let mut client = Raw::connect(server.address);
    assert!(cookie(&client.get(Server::FAST).response().head).is_some());
    let login = client.get("/login").response();
    assert!(!login.head.to_lowercase().contains("headworks-class"), "{}", login.head);
    assert_eq!(login.status, 200);
    assert_eq!(client.get(Server::FAST).response().status, 200);
}

fn of_the_server(server: &Server) {
    let site = Site::of(server);
    let gate = site.gate("window = 2");
    let _running = site.start();
    begins_as_premium(&gate, server);
    becomes_premium(&gate, server, "/login");
    if server.keeps {
        becomes_premium_on_a_kept_connection(&gate, server);
    }
}

#[test]
fn nginx_names_a_class() {
    of_the_server(&Server::nginx(2, ""));
}

#[test]
fn node_names_a_class() {
    of_the_server(&Server::node("node"));
}

#[test]
fn gunicorn_names_a_class() {
    of_the_server(&Server::gunicorn("sync"));
}

#[test]
fn a_status_raises_a_session() {
    let server = Server::nginx(2, "");
    let site = Site::of(&server);
    let gate = site.gate("window = 2\n[[raise]]\nclass = 'premium'\npath = '/slow'\nstatus = '2xx'\n");
    let _running = site.start();
    becomes_premium(&gate, &server, Server::SLOW);
}
