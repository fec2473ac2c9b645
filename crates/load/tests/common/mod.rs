//! Servers that answer as a test wants, and runs against them.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

pub(crate) mod agree;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU32;

use load::{Backend, Checks, ExportPaths, Load, Options, Protocol, Report, Request, Script, View};
use testkit::Hostile;
use traffic::{Process, Workload};
use units::{Rate, Span};

/// A server that answers each request, given its head, with these bytes, on connections that
/// stay open; no bytes close the connection.
pub(crate) fn web(respond: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Hostile {
    Hostile::start(move |stream, _| serve(stream, &respond))
}

pub(crate) fn serve(mut stream: &TcpStream, respond: &impl Fn(&str) -> Vec<u8>) {
    let mut received = Vec::new();
    let mut piece = [0; 4096];
    loop {
        while let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
            let head: Vec<u8> = received.drain(..end + 4).collect();
            let answer = respond(&String::from_utf8(head).unwrap());
            if answer.is_empty() || stream.write_all(&answer).is_err() {
                return;
            }
        }
        match stream.read(&mut piece) {
            Ok(length) if length > 0 => received.extend_from_slice(&piece[..length]),
            _ => return,
        }
    }
}

/// A response with a body of `length` bytes.
pub(crate) fn ok(length: usize) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{}", "x".repeat(length)).into_bytes()
}

/// A short run of one client that asks for `/` again and again.
pub(crate) fn options(address: SocketAddr) -> Options {
    Options {
        target: format!("http://{address}/").parse().unwrap(),
        script: Script::Url,
        request: Request::default(),
        load: closed(1),
        pauses: false,
        protocol: Protocol::default(),
        checks: Checks::default(),
        threads: NonZeroU32::MIN,
        backend: backend(),
        warmup: Span::ZERO,
        duration: Span::from_millis(200),
        count: None,
        drain: None,
        timeout: Some(Span::from_secs(5)),
        seed: 1,
        objectives: Vec::new(),
        stop: Vec::new(),
        percentiles: Vec::new(),
        exports: ExportPaths::default(),
        out: None,
        command: vec!["test".to_owned()],
        view: View::Nothing,
        metrics: None,
        collector: None,
    }
}

/// A closed loop without pauses.
pub(crate) fn closed(clients: u32) -> Load {
    Load::Closed { clients, ramp: None, think: None }
}

/// An open loop at one rate.
pub(crate) fn open(rate: f64, process: Process) -> Load {
    Load::Open { rate: Rate::per_second(rate).unwrap(), ramp: None, process, connections: None }
}

/// Both ways to the kernel are tested: `LOAD_TEST_ENGINE=epoll` chooses the second.
fn backend() -> Backend {
    std::env::var("LOAD_TEST_ENGINE").map_or(Backend::Auto, |name| name.parse().unwrap())
}

/// The same for a path.
pub(crate) fn options_for(address: SocketAddr, path: &str) -> Options {
    Options { target: format!("http://{address}{path}").parse().unwrap(), ..options(address) }
}

/// Sessions of a workload file, at a rate.
pub(crate) fn sessions(address: SocketAddr, workload: &str, rate: f64) -> Options {
    let source = config::Source::new("workload.toml", format!("kind = 'sessions'\n{workload}"));
    Options {
        script: Script::Sessions {
            workload: Box::new(Workload::parse(&source).unwrap()),
            text: source.text().to_owned(),
        },
        load: open(rate, Process::Poisson),
        timeout: None,
        ..options(address)
    }
}

pub(crate) fn run(options: &Options) -> Report {
    load::run(options).unwrap()
}
