//! Every request is counted, whatever the budget: how many, of which size and status, and how many bytes.

use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testkit::{Apache, Mpm, Nginx, Process, Raw, free_address};
use units::Span;
use watch::requests::{Budget, Classes};
use watch::{Addresses, Groups, Options, Watch, WatchOutcome, Whose};

use crate::is_able;
use crate::servers::{SIZES, address, documents};

/// Requests for each of the documents, and for one that is not there.
pub(super) const EACH: usize = 40;

/// A server in a few lines: documents, 404 for others, and a pause in the middle of a response where the path asks for one.
const NODE: &str = "
const [directory, port] = process.argv.slice(1);
const fs = require('fs');
require('http').createServer((request, response) => {
  const [path, pause] = request.url.slice(1).split('?');
  let body;
  try { body = fs.readFileSync(directory + '/' + path); } catch { response.writeHead(404, { 'Content-Length': 7 }).end('nothing'); return; }
  response.writeHead(200, { 'Content-Length': body.length });
  response.flushHeaders();
  setTimeout(() => response.end(body), Number(pause || 0));
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
";

/// Watches a port with a look every 50 ms while `visit` goes on.
pub(super) fn watched(port: u16, budget: Budget, visit: impl FnOnce() + Send + 'static) -> WatchOutcome {
    watched_at(Addresses::at_port(port), budget, visit)
}

/// As [`watched`], wherever a server listens.
pub(super) fn watched_at(
    at: Addresses,
    budget: Budget,
    visit: impl FnOnce() + Send + 'static,
) -> WatchOutcome {
    let options = Options {
        programs: Vec::new(),
        at,
        groups: Groups::every(Span::from_millis(50)),
        classes: Classes::default(),
        budget,
        // They come as fast as the server can.
        counts_all: true,
        seed: 1,
        keep: None,
        whose: Whose::default(),
    };
    let mut watch = Watch::begin(options, None).unwrap();
    // What follows requests is attached.
    watch.turn().unwrap();
    let visiting = std::thread::spawn(visit);
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut looked = Instant::now();
    while !visiting.is_finished() {
        assert!(Instant::now() < deadline, "the visit does not end");
        watch.turn().unwrap();
        if looked.elapsed() > Duration::from_millis(50) {
            watch.look(true).unwrap();
            looked = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    visiting.join().unwrap();
    watch.look(true).unwrap();
    watch.end(false).unwrap()
}

fn get(address: SocketAddr, path: &str) {
    Raw::connect(address).send(format!("GET /{path} HTTP/1.0\r\n\r\n")).until_closed();
}

/// Each document as often, and as often one that is not there.
fn visit(address: SocketAddr) {
    for _ in 0..EACH {
        for (name, _) in SIZES {
            get(address, name);
        }
        get(address, "missing");
    }
}

/// So many of each class, by status, and so many bytes but for headers and pages of errors.
pub(super) fn check(outcome: &WatchOutcome, server: &str) {
    let seen = &outcome.seen;
    assert!(seen.followed.unwrap().is_counted, "{server}: {:?}", seen.followed);
    let of =
        |class: &str| seen.requests.get(class).unwrap_or_else(|| panic!("{server}: no {class} in {seen:?}"));
    for (class, responses) in [("0-50k", 2 * EACH), ("50k-500k", EACH), ("500k-", EACH)] {
        let rates = of(class);
        assert_eq!(rates.count, responses as u64, "{server}, {class}");
        assert_eq!(rates.status.successful, EACH as u64, "{server}, {class}");
        assert_eq!(rates.ci.rate, [rates.rate; 2], "{server}: it is no estimate");
    }
    assert_eq!(of("0-50k").status.client_errors, EACH as u64, "{server}");
    for ((_, size), class) in SIZES[1..].iter().zip(["50k-500k", "500k-"]) {
        let each = of(class).bytes_rate / of(class).rate;
        // HTTP/2 has 9 bytes for each frame besides.
        assert!((*size as f64..*size as f64 * 1.0015 + 600.0).contains(&each), "{server}, {class}: {each}");
    }
}

fn counts(address: SocketAddr, server: &str) {
    check(&watched(address.port(), Budget::default(), move || visit(address)), server);
}

#[test]
fn of_nginx_and_apache_whatever_the_budget() {
    if !is_able() {
        return;
    }
    let place = documents();
    if let Some(nginx) = Nginx::start(place.path(), "") {
        counts(address(nginx.url()), "nginx");
    }
    for mpm in [Mpm::Prefork, Mpm::Worker, Mpm::Event] {
        if let Some(apache) = Apache::start(mpm, place.path(), "") {
            counts(address(apache.url()), &format!("apache, {mpm:?}"));
        }
    }
}

fn node(directory: &std::path::Path) -> (Process, SocketAddr) {
    let address = free_address();
    let mut command = Command::new("node");
    command.args(["-e", NODE, "--"]).arg(directory).arg(address.port().to_string());
    (Process::listening(&mut command, address), address)
}

#[test]
fn of_node_and_python_whatever_the_budget() {
    if !is_able() {
        return;
    }
    let place = documents();
    let (_node, at) = node(place.path());
    counts(at, "node");
    let at = free_address();
    let mut command = Command::new("python3");
    command.args(["-m", "http.server", "--bind", "127.0.0.1", "--directory"]).arg(place.path());
    let _python = Process::listening(command.arg(at.port().to_string()).stderr(Stdio::null()), at);
    counts(at, "python");
}

/// A server that is told in a file what to do, and listens at an address.
fn configured(command: &mut Command, file: &std::path::Path, text: &str, at: SocketAddr) -> Process {
    std::fs::write(file, text).unwrap();
    Process::listening(command.arg(file).stderr(Stdio::null()), at)
}

/// Those of requests that came together are sent together by some, in one call.
#[test]
fn responses_that_are_sent_together_are_counted_one_by_one() {
    const TOGETHER: usize = 8;
    const TIMES: usize = 5;
    if !is_able() {
        return;
    }
    let place = documents();
    let nginx = Nginx::start(place.path(), "");
    let apaches = [Mpm::Prefork, Mpm::Event].map(|mpm| Apache::start(mpm, place.path(), ""));
    let (_node, node) = node(place.path());
    let (haproxy, caddy) = (free_address(), free_address());
    let behind = nginx.as_ref().map_or(node, |nginx| address(nginx.url()));
    let _haproxy = configured(
        Command::new("haproxy").arg("-f"),
        &place.path().join("haproxy.cfg"),
        &format!(
            "defaults\n mode http\n timeout connect 5s\n timeout client 30s\n timeout server 30s\n\
             frontend front\n bind {haproxy}\n default_backend back\nbackend back\n server one {behind}\n"
        ),
        haproxy,
    );
    let _caddy = configured(
        Command::new("caddy").env("HOME", place.path()).args(["run", "--adapter", "caddyfile", "--config"]),
        &place.path().join("Caddyfile"),
        &format!(
            "{{\n admin off\n}}\nhttp://:{} {{\n bind 127.0.0.1\n root * {}\n file_server\n}}\n",
            caddy.port(),
            place.path().display()
        ),
        caddy,
    );
    let servers = nginx.iter().map(|nginx| ("nginx", address(nginx.url())));
    let servers = servers.chain(apaches.iter().flatten().map(|apache| ("apache", address(apache.url()))));
    for (server, address) in servers.chain([("node", node), ("haproxy", haproxy), ("caddy", caddy)]) {
        let outcome = watched(address.port(), Budget::default(), move || {
            for (path, status) in [("small", 200), ("missing", 404)] {
                let request = format!("GET /{path} HTTP/1.1\r\nHost: a\r\n\r\n");
                for _ in 0..TIMES {
                    let mut client = Raw::connect(address);
                    client.send(request.repeat(TOGETHER));
                    for _ in 0..TOGETHER {
                        assert_eq!(client.response().status, status);
                    }
                }
            }
        });
        let rates = &outcome.seen.requests["0-50k"];
        let each = (TOGETHER * TIMES) as u64;
        assert_eq!((rates.status.successful, rates.status.client_errors), (each, each), "{server}");
    }
}

/// Looks come while the server pauses, and what it sends after that is of the same response.
#[test]
fn a_response_that_pauses_is_one() {
    const PAUSE: Span = Span::from_millis(300);
    const RESPONSES: usize = 5;
    if !is_able() {
        return;
    }
    let place = documents();
    let (_server, address) = node(place.path());
    for budget in [Budget::Unlimited, Budget::default()] {
        let outcome = watched(address.port(), budget, move || {
            // On one connection, which stays open.
            let mut client = Raw::connect(address);
            for _ in 0..RESPONSES {
                client.get(&format!("/medium?{}", PAUSE.as_nanos() / 1_000_000)).response();
            }
        });
        let classes: Vec<(&str, u64)> =
            outcome.seen.requests.iter().map(|(class, rates)| (class.as_str(), rates.count)).collect();
        assert_eq!(classes, [("50k-500k", RESPONSES as u64)], "{budget}");
        if budget == Budget::Unlimited {
            let rates = &outcome.seen.requests["50k-500k"];
            assert_eq!(rates.followed, RESPONSES as u64);
            // Node's timers keep whole milliseconds, so that one may end up to one early.
            assert!(rates.duration.min >= PAUSE.as_secs_f64() - 0.001, "{:?}", rates.duration);
        }
    }
}
