//! What a client is told when something went wrong.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::Write;

use crate::common::{Gate, Held, read_head, request};
use testkit::{Hostile, Response};

/// A gate in front of a server that breaks off, and files for some statuses.
fn broken(pages: &str, directory: &std::path::Path) -> (Hostile, Gate) {
    let server = Hostile::start(|stream, _| {
        let _ = read_head(stream);
    });
    let text = format!("listen = '127.0.0.1:0'\nupstream = '{}'\n{pages}", server.address());
    let gate = Gate::run(&text, directory);
    (server, gate)
}

fn asking(gate: &Gate, accept: &str) -> Response {
    let response = gate.get("/", &format!("Accept: {accept}\r\n"));
    assert_eq!((response.status, response.header("cache-control")), (502, Some("no-store")));
    response
}

#[test]
fn an_error_has_the_form_that_a_client_reads() {
    let (_server, gate) = broken("", ".".as_ref());
    let page = asking(&gate, "text/html,*/*;q=0.8");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.text().contains("<h1>Bad Gateway</h1>") && page.text().contains("broke off"), "{page:?}");
    let problem = asking(&gate, "application/json");
    assert_eq!(problem.header("content-type"), Some("application/problem+json"));
    let problem: serde_json::Value = serde_json::from_slice(&problem.body).unwrap();
    assert_eq!((&problem["status"], &problem["title"]), (&502.into(), &"Bad Gateway".into()));
    assert!(problem["detail"].as_str().unwrap().contains("broke off"), "{problem}");
    let text = asking(&gate, "*/*");
    assert_eq!(text.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(text.text().contains("broke off"), "{text:?}");
    let mut client = gate.connect();
    let head = client.send("HEAD / HTTP/1.1\r\nHost: t\r\nAccept: text/html\r\n\r\n").head();
    assert!(head.starts_with("HTTP/1.1 502") && head.contains("text/html"), "{head}");
    // What follows is the next response and not a body.
    assert_eq!(client.get("/").response().status, 502);
}

#[test]
fn files_of_ones_own_take_the_place_of_the_gates_words() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in
        [("down.html", "<p>own"), ("down.json", "{}"), ("busy.html", "<p>busy"), ("busy.txt", "busy")]
    {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let (_server, gate) = broken("[pages]\n502 = ['down.html', 'down.json']\n", directory.path());
    let told = |accept| asking(&gate, accept).text().to_owned();
    assert_eq!((told("text/html"), told("application/json")), ("<p>own".to_owned(), "{}".to_owned()));
    assert!(told("*/*").contains("broke off"));

    // Refusals too, unless [reject] says what they are.
    let held = Held::start();
    let text = format!(
        "listen = '127.0.0.1:0'\nupstream = '{}'\nwindow = 1\ndifferentiation = 0\n[limits]\nclass-queues = 1\ndiscard-queues = 0\ndiscard-periods = 0\n[pages]\n503 = ['busy.html', 'busy.txt']\n",
        held.address()
    );
    let gate = Gate::run(&text, directory.path());
    let mut clients = [gate.connect(), gate.connect()];
    clients[0].send(request("/", ""));
    assert_eq!(held.next(), "/");
    clients[1].send(request("/", ""));
    gate.wait_for_queue(1);
    let page = gate.get("/", "Accept: text/html\r\n");
    assert_eq!((page.status, page.text()), (503, "<p>busy"));
    assert!(page.header("retry-after").is_some());
    assert_eq!(gate.get("/", "").text(), "busy");
}

#[test]
fn a_page_that_is_never_shown_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.html"), "a").unwrap();
    std::fs::write(directory.path().join("a.css"), "a").unwrap();
    for (pages, why) in [
        ("404 = 'a.html'", "gives no 404"),
        ("bad = 'a.html'", "gives no bad"),
        ("502 = 'a.css'", ".html, .json or .txt"),
        ("502 = ['a.html', 'a.html']", "another file"),
        ("502 = 'b.html'", "cannot read"),
    ] {
        let text = format!("listen = '127.0.0.1:0'\nupstream = '127.0.0.1:1'\n[pages]\n{pages}\n");
        let source = config::Source::new("gate.toml", text);
        let error = gate::Settings::from_source(&source, directory.path()).unwrap_err().to_string();
        assert!(error.contains(why), "{pages}: {error}");
    }
}

#[test]
fn field_names_are_written_as_the_settings_say() {
    let server = Hostile::start(|mut stream, _| {
        while read_head(stream).is_some() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nx-request-id: 1\r\ncontent-length: 0\r\n\r\n");
        }
    });
    for (setting, name) in [("lower-case", "\r\nx-request-id: 1"), ("title-case", "\r\nX-Request-Id: 1")] {
        let gate = Gate::start(server.address(), &format!("[client]\nfield-names = '{setting}'\n"));
        let head = gate.get("/", "").head;
        assert!(head.contains(name), "{head}");
    }
}
