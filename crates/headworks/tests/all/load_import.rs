//! `headworks load import`: what was recorded arrives again, with what the server says this time.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;

use record::Summary;
use serde_json::{Value, json};

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

/// A request, as it arrived.
#[derive(Debug, Clone, Default)]
struct Arrived {
    line: String,
    fields: Vec<(String, String)>,
    body: String,
}

impl Arrived {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// A shop that gives out another token in each session, and orders with other numbers than were recorded.
#[derive(Clone, Default)]
struct Shop(Arc<Mutex<Vec<Arrived>>>);

impl Shop {
    fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shop = self.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (shop, stream) = (shop.clone(), stream.unwrap());
                thread::spawn(move || while shop.serve(&mut BufReader::new(&stream)).is_some() {});
            }
        });
        address
    }

    /// One request, without another behind it that the client does not wait for.
    fn serve(&self, stream: &mut BufReader<&TcpStream>) -> Option<()> {
        let mut arrived = Arrived { line: line(stream)?, ..Arrived::default() };
        loop {
            let field = line(stream)?;
            let Some((name, value)) = field.split_once(": ") else { break };
            arrived.fields.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let length = arrived.field("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        arrived.body = String::from_utf8(body).unwrap();
        let (status, more, body) = answer(&arrived.line);
        self.0.lock().unwrap().push(arrived);
        let length = body.len();
        write!(stream.get_mut(), "HTTP/1.1 {status} OK\r\nContent-Length: {length}\r\n{more}\r\n{body}").ok()
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.0.lock().unwrap().clone()
    }
}

fn line(stream: &mut BufReader<&TcpStream>) -> Option<String> {
    let mut line = String::new();
    (stream.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
}

fn answer(line: &str) -> (u16, &'static str, &'static str) {
    match line.split(' ').nth(1).unwrap() {
        "/" => (200, "Set-Cookie: sid=1\r\n", "<input type='hidden' name='csrf' value='this-time-2'>"),
        "/missing" => (404, "", ""),
        "/login" => (200, "", r#"{"user": {"token": "token-of-this-time"}}"#),
        "/orders" => (201, "", r#"{"id": 4321}"#),
        "/latest" => (302, "Location: /orders/4321/\r\n", ""),
        _ => (200, "", "{}"),
    }
}

fn entry(at_ms: u64, request: Value, status: u16, mime: &str, text: &str, location: &str) -> Value {
    let (seconds, millis) = (at_ms / 1000, at_ms % 1000);
    json!({
        "startedDateTime": format!("2026-01-31T12:00:{seconds:02}.{millis:03}Z"), "time": 10, "request": request,
        "response": {"status": status, "headers": [], "content": {"mimeType": mime, "text": text}, "redirectURL": location},
    })
}

fn request(method: &str, url: &str, headers: &[(&str, &str)], body: Option<&str>) -> Value {
    let headers: Vec<Value> =
        headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let mut request = json!({"method": method, "url": url, "headers": headers});
    if let Some(body) = body {
        request["postData"] = json!({"mimeType": "text/plain", "text": body});
    }
    request
}

/// A visit to the shop as a proxy records it.
fn recording(address: SocketAddr) -> String {
    let url = |path: &str| format!("http://{address}{path}");
    let get =
        |path: &str| request("GET", &url(path), &[("User-Agent", "Mozilla/5.0"), ("Accept", "*/*")], None);
    let json = [("Content-Type", "application/json"), ("X-Shop", "1")];
    let bearer = [("Authorization", "Bearer recorded-token-1"), ("Cookie", "sid=0")];
    let (html, style, script) = ("text/html", "text/css", "application/json");
    let form = "<input type='hidden' name='csrf' value='recorded-1'>";
    let login =
        request("POST", &url("/login"), &json, Some(r#"{"csrf":"recorded-1","price":"${5}","text":"ü\n'"}"#));
    let order = request("POST", &url("/orders"), &bearer, Some("two\r\nlines"));
    let change = request("PATCH", &url("/orders/77/items?of=77&n=177"), &bearer, None);
    json!({"log": {"version": "1.2", "entries": [
        entry(0, get("/"), 200, html, form, ""),
        entry(20, get("/a.css"), 200, style, "", ""),
        entry(30, get("/missing"), 404, style, "", ""),
        entry(40, request("GET", "https://elsewhere.example/x.js", &[], None), 200, "text/javascript", "", ""),
        entry(2000, login, 200, script, r#"{"user": {"token": "recorded-token-1"}}"#, ""),
        entry(2020, order, 201, script, r#"{"id": 77}"#, ""),
        entry(2040, change, 200, script, "{}", ""),
        entry(2060, get("/latest"), 302, html, "", "/orders/77/"),
        entry(2070, get("/orders/77/"), 200, html, "", ""),
    ]}})
    .to_string()
}

fn import(arguments: &[&str], directory: &Path) -> Output {
    Command::new(HEADWORKS).args(["load", "import"]).args(arguments).current_dir(directory).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// One session of the workload `w.toml`.
#[track_caller]
fn session(address: SocketAddr, directory: &Path, arguments: &[&str]) -> Summary {
    let url = format!("http://{address}");
    let command = ["load", &url, "--workload", "w.toml", "-n", "1", "-c", "1", "--json", "--quiet"];
    let output =
        Command::new(HEADWORKS).args(command).args(arguments).current_dir(directory).output().unwrap();
    let summary: Summary =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {}", said(&output)));
    assert_eq!(summary.sessions.completed, 1, "{:?}", summary.error_details);
    summary
}

#[test]
fn what_was_recorded_arrives_again() {
    let (shop, directory) = (Shop::default(), tempfile::tempdir().unwrap());
    let address = shop.start();
    std::fs::write(directory.path().join("visit.har"), recording(address)).unwrap();
    let output = import(&["visit.har", "--out", "w.toml"], directory.path());
    assert!(output.status.success() && output.stdout.is_empty(), "{}", said(&output));
    assert!(said(&output).contains("run it with --follow 1"), "{}", said(&output));

    session(address, directory.path(), &["--follow", "1"]);
    let arrived = shop.arrived();
    let lines: Vec<&str> = arrived.iter().map(|arrived| arrived.line.trim_end_matches(" HTTP/1.1")).collect();
    assert_eq!(
        lines,
        [
            "GET /",
            "GET /a.css",
            "GET /missing",
            "POST /login",
            "POST /orders",
            "PATCH /orders/4321/items?of=4321&n=177",
            "GET /latest",
            "GET /orders/4321/",
        ]
    );
    assert_eq!(arrived[3].body, "{\"csrf\":\"this-time-2\",\"price\":\"${5}\",\"text\":\"ü\\n'\"}");
    assert_eq!(
        (arrived[3].field("x-shop"), arrived[3].field("content-type")),
        (Some("1"), Some("application/json"))
    );
    assert_eq!(arrived[4].body, "two\r\nlines");
    assert_eq!(arrived[4].field("content-type"), Some("text/plain"));
    for with_token in &arrived[4..6] {
        assert_eq!(with_token.field("authorization"), Some("Bearer token-of-this-time"));
    }
    assert!(arrived[1..].iter().all(|arrived| arrived.field("cookie") == Some("sid=1")), "{arrived:#?}");
    assert!(arrived.iter().all(|arrived| arrived.field("user-agent").unwrap().starts_with("headworks/")));
}

#[test]
fn the_operations_of_a_description_arrive() {
    let (shop, directory) = (Shop::default(), tempfile::tempdir().unwrap());
    let address = shop.start();
    let description = "openapi: 3.0.0\npaths:\n  /orders/{id}:\n    delete: {responses: {200: {description: gone}}}\n    get: {responses: {200: {description: ok}}}\n  /orders:\n    post:\n      requestBody: {content: {application/json: {schema: {type: object, properties: {n: {type: integer, minimum: 2, maximum: 2}}}}}}\n      responses: {201: {description: made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}\n";
    std::fs::write(directory.path().join("api.yaml"), description).unwrap();
    let output = import(&["api.yaml", "--out", "w.toml", "--quiet"], directory.path());
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""));
    session(address, directory.path(), &[]);
    let arrived = shop.arrived();
    let lines: Vec<&str> = arrived.iter().map(|arrived| arrived.line.trim_end_matches(" HTTP/1.1")).collect();
    assert_eq!(lines, ["POST /orders", "GET /orders/4321", "DELETE /orders/4321"]);
    assert_eq!(arrived[0].body, "{\"n\":2}");
}

#[test]
fn files_are_not_written_over_and_wrong_ones_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("a.har", &recording("127.0.0.1:1".parse().unwrap()));
    write("cut.har", "{\"log\": {\n");
    write("other.json", "{}");
    let printed = import(&["a.har"], directory.path());
    assert!(String::from_utf8(printed.stdout).unwrap().contains("kind = \"sessions\""));
    write("w.toml", "mine");
    for (arguments, expected) in [
        (&["a.har", "--out", "w.toml"][..], "w.toml is there already; --force writes over it"),
        (&["cut.har"], "cut.har:2: the file ends in the middle; export it anew"),
        (&["other.json"], "other.json: it is neither a HAR file"),
        (&["a.har", "--from", "openapi"], "a.har: it is not an OpenAPI description"),
        (&["a.har", "--from", "postman"], "there are har and openapi"),
        (&["a.har", "--all"], "--all is for OpenAPI descriptions"),
        (&["a.har", "--force"], "--out"),
        (&["none.har"], "none.har: cannot read it"),
    ] {
        let output = import(arguments, directory.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
    assert_eq!(std::fs::read_to_string(directory.path().join("w.toml")).unwrap(), "mine");
    assert!(import(&["a.har", "--out", "w.toml", "--force"], directory.path()).status.success());
    assert!(std::fs::read_to_string(directory.path().join("w.toml")).unwrap().starts_with("# What "));
}
