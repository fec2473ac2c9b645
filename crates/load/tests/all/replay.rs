//! What a real server has logged, asked of it again: its second log is the first.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use crate::common::agree::{BACKENDS, documents, options_of};
use crate::common::{closed, run, web};
use load::{Http, Options, Protocol, Request, Script};
use testkit::Nginx;
use traffic::trace::{AccessLog, Trace};
use units::Span;

/// A body and its type.
type Sent = Option<(&'static str, &'static str)>;

/// What is sent to the first server: the request line, the host, and a body.
const REQUESTS: [(&str, &str, Sent); 8] = [
    ("GET /one?a=%22b", "www.example.org", None),
    ("HEAD /many", "shop.example.org", None),
    ("POST /form", "shop.example.org", Some(("application/json", r#"{"a": "\\ \u00e9"}"#))),
    ("GET /one?a=%22b", "shop.example.org", None),
    ("PUT /form?x", "www.example.org", Some(("text/plain", "a=1&b=2"))),
    ("OPTIONS /one", "www.example.org", None),
    ("DELETE /one", "www.example.org", None),
    ("GET /gone/caf%C3%A9", "www.example.org", None),
];

/// The time stands first, and what has to be the same behind it.
const FORMAT: &str = r#"log_format json escape=json '{"msec":"$msec","request_time":"$request_time","host":"$host","request_method":"$request_method","request_uri":"$request_uri","request_body":"$request_body","content_type":"$content_type","status":"$status","body_bytes_sent":"$body_bytes_sent"}';"#;

/// A server that logs bodies, which nginx does where it passes them on: here to itself.
fn start(content: &Path, log: &Path) -> Option<Nginx> {
    let (log, socket) = (log.display(), log.with_extension("sock"));
    let socket = socket.display();
    let extra = format!(
        "access_log {log} json;
         listen unix:{socket};
         location /taken {{ access_log off; return 200 taken; }}
         location /form {{ proxy_pass http://unix:{socket}:/taken; }}"
    );
    Nginx::start_with(content, FORMAT, &extra)
}

fn send(url: &str) {
    for (request, host, body) in REQUESTS {
        let fields = body.map_or_else(String::new, |(kind, text)| {
            format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", text.len())
        });
        let text = body.map_or("", |(_, text)| text);
        let message =
            format!("{request} HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n{text}");
        let mut connection = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        connection.write_all(message.as_bytes()).unwrap();
        connection.read_to_end(&mut Vec::new()).unwrap();
    }
}

/// Lines of a log without their times, and without sizes: HTTP/2 counts the heads of its frames along.
fn asked(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap();
    let part = |line: &str| {
        let (_, part) = line.split_once(r#""host""#).unwrap();
        part.split_once(r#","body_bytes_sent""#).unwrap().0.to_owned()
    };
    text.lines().map(part).collect()
}

fn replay(trace: &Arc<Trace>, options: Options) -> Options {
    let count = Some(trace.requests.len() as u64);
    let script = Script::Trace(Arc::clone(trace));
    Options { script, count, load: closed(1), duration: Span::from_secs(20), ..options }
}

#[test]
fn the_second_log_is_the_first() {
    let (content, logs) = (documents(), tempfile::tempdir().unwrap());
    let first = logs.path().join("first.json");
    let Some(nginx) = start(content.path(), &first) else { return };
    send(nginx.url());
    nginx.stop();
    let trace = Arc::new(AccessLog::default().read(&first).unwrap());
    assert_eq!(trace.requests.len(), REQUESTS.len(), "{}", trace.skipped);
    for backend in BACKENDS {
        for http in [Http::Http11, Http::Http2] {
            let second = logs.path().join(format!("{backend}-{http}.json"));
            let Some(nginx) = start(content.path(), &second) else { return };
            let protocol = Protocol { http, ..Protocol::default() };
            let options = Options { backend, protocol, ..options_of(nginx.url(), "/") };
            let target = if http == Http::Http2 { nginx.tls_url() } else { nginx.url() };
            let mut options = replay(&trace, Options { target: target.parse().unwrap(), ..options });
            options.protocol.insecure = true;
            let summary = run(&options).summary;
            nginx.stop();
            assert_eq!(summary.responses, REQUESTS.len() as u64, "{:?}", summary.errors);
            assert_eq!(asked(&second), asked(&first), "{backend}, HTTP/{http}");
        }
    }
}

#[test]
fn a_host_that_is_given_counts_for_more_than_those_of_the_log() {
    let log = "www.example.org:80 192.0.2.1 - - [10/Oct/2000:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 1\n\
               192.0.2.1 - - [10/Oct/2000:13:55:37 +0000] \"GET /b HTTP/1.1\" 200 1\n";
    let trace = Arc::new(AccessLog::default().parse(Path::new("log"), log.as_bytes()).unwrap());
    for (given, expected) in [
        (Vec::new(), ["www.example.org", "127.0.0.1"]),
        (vec![("Host".to_owned(), "given.example.org".to_owned())], ["given.example.org"; 2]),
    ] {
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let heads = Arc::clone(&seen);
        let server = web(move |head| {
            let host = head.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap();
            heads.lock().unwrap().push(host.split(':').next().unwrap().to_owned());
            crate::common::ok(1)
        });
        let mut options = replay(&trace, crate::common::options(server.address()));
        options.request = Request { headers: given, ..Request::default() };
        run(&options);
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}

#[test]
fn a_redirect_is_followed_on_the_host_of_the_log_with_the_body_of_the_log() {
    let log = "{\"msec\":\"1700000000.500\",\"host\":\"www.example.org\",\"request_method\":\"POST\",\"request_uri\":\"/old\",\"request_body\":\"a=1\"}\n";
    let trace = Arc::new(AccessLog::default().parse(Path::new("log"), log.as_bytes()).unwrap());
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let heads = Arc::clone(&seen);
    let server = web(move |head| {
        // The body of the request before is in front of a head.
        let head = head.strip_prefix("a=1").unwrap_or(head);
        let wanted = ["POST", "Host", "Content-Type", "Content-Length"];
        let lines = head.lines().filter(|line| wanted.iter().any(|name| line.starts_with(name)));
        heads.lock().unwrap().push(lines.map(str::to_owned).collect::<Vec<_>>());
        if head.starts_with("POST /old ") {
            let location = "Location: http://www.example.org/new";
            format!("HTTP/1.1 307 Elsewhere\r\n{location}\r\nContent-Length: 0\r\n\r\n").into_bytes()
        } else {
            crate::common::ok(1)
        }
    });
    let mut options = replay(&trace, crate::common::options(server.address()));
    options.protocol.redirects = 2;
    let summary = run(&options).summary;
    assert_eq!(summary.errors.total(), 0, "{:?}", summary.errors);
    let fields =
        ["Host: www.example.org", "Content-Length: 3", "Content-Type: application/x-www-form-urlencoded"];
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    for (lines, first) in seen.iter().zip(["POST /old HTTP/1.1", "POST /new HTTP/1.1"]) {
        assert_eq!((lines[0].as_str(), &lines[1..]), (first, &fields.map(str::to_owned)[..]));
    }
}
