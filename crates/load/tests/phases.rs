//! Phases against times that are known: a server tells them, or the test itself makes them.
//!
//! On a machine that has other work many requests take longer than they should, and it is not
//! the generator that is wrong. So the fastest quarter is compared, with what a client sees that
//! does nothing but wait for a response, in the same seconds.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::{options_for, run};
use load::{Backend, Load, Options, Protocol};
use origin::{Mode, Server};
use record::{RequestRow, RunDirectory};
use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
use testkit::{Hostile, Nginx};
use traffic::Think;
use units::Span;

/// How wrong a phase may be, s: what the generator takes to notice is in what it measures, and
/// not optimised it takes longer.
const RIGHT: f64 = if cfg!(debug_assertions) { 200e-6 } else { 100e-6 };

/// A busy machine may spoil some runs; a generator that is wrong spoils all.
const RUNS: u32 = 8;

const EMPTY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

const BACKENDS: [Backend; 2] = [Backend::Auto, Backend::Epoll];

fn origin() -> (Server, SocketAddr) {
    let server = Server::start(&origin::Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        workers: NonZeroUsize::new(8).unwrap(),
        ..origin::Options::new(Mode::Workers)
    })
    .unwrap();
    let address = server.address().tcp().unwrap();
    (server, address)
}

/// The rows of a run that have a response.
fn rows(options: Options) -> Vec<RequestRow> {
    let scratch = tempfile::tempdir().unwrap();
    run(&Options { out: Some(scratch.path().into()), ..options });
    let rows = RunDirectory::open(scratch.path()).unwrap().requests().unwrap().map(Result::unwrap);
    rows.filter(|row| row.error.is_none()).collect()
}

/// The value below which a quarter of all are.
fn quartile(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    assert!(values.len() >= 10, "{} values prove nothing", values.len());
    values.sort_by(f64::total_cmp);
    values[values.len() / 4]
}

fn seconds(span: Option<Span>) -> f64 {
    span.unwrap().as_secs_f64()
}

/// Repeats `measure`, which gives names with errors in seconds, until all are within `bound`.
#[track_caller]
fn is_right(what: &str, bound: f64, mut measure: impl FnMut() -> Vec<(&'static str, f64)>) {
    for run in 1..=RUNS {
        let errors = measure();
        eprintln!("{what}, run {run}: {errors:?}");
        if errors.iter().all(|(_, error)| error.abs() <= bound) {
            return;
        }
    }
    panic!("{what}: wrong by more than {bound} s in {RUNS} runs");
}

/// What a client sees that waits for one response: from the request written to the first byte,
/// beyond what the server says that it took; and from there to the last, s.
fn seen_by_hand(stream: &mut TcpStream, path: &str, length: usize) -> (f64, f64) {
    let mut buffer = [0; 65_536];
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    let began = Instant::now();
    stream.write_all(request.as_bytes()).unwrap();
    let mut have = stream.read(&mut buffer).unwrap();
    let first = Instant::now();
    let head = String::from_utf8_lossy(&buffer[..have]).into_owned();
    let end = head.find("\r\n\r\n").unwrap() + 4;
    while have < end + length {
        have += stream.read(&mut buffer).unwrap();
    }
    let last = Instant::now();
    let (_, timing) = head.split_once("before;dur=").unwrap();
    let server: f64 = timing.split("\r\n").next().unwrap().parse().unwrap();
    (first.duration_since(began).as_secs_f64() - server / 1e3, last.duration_since(first).as_secs_f64())
}

#[test]
fn known_delays_before_a_response_and_between_its_bytes_are_measured() {
    const PATH: &str = "/delay?before=1500us&bytes=10000&pieces=4&between=1100us";
    let (_server, address) = origin();
    for backend in BACKENDS {
        for once in [None, NonZeroU32::new(1)] {
            let protocol = Protocol { requests_per_connection: once, ..Protocol::default() };
            is_right(&format!("{backend}, {once:?}"), RIGHT, || {
                let options = Options {
                    load: Load::Closed {
                        clients: 1,
                        ramp: None,
                        think: Some(Think::constant(Span::from_micros(200))),
                    },
                    duration: Span::from_millis(800),
                    backend,
                    protocol: protocol.clone(),
                    ..options_for(address, PATH)
                };
                let generator = thread::spawn(|| rows(options));
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                let mut by_hand = Vec::new();
                while !generator.is_finished() {
                    by_hand.push(seen_by_hand(&mut stream, PATH, 10_000));
                }
                let rows = generator.join().unwrap();
                let way = quartile(by_hand.iter().map(|seen| seen.0));
                let pieces = 3.0 * 1.1e-3;
                let processing = rows.iter().map(|row| seconds(row.processing_ns) - seconds(row.server_ns));
                let processing = quartile(processing);
                let transfer = quartile(rows.iter().map(|row| seconds(row.transfer_ns) - pieces));
                vec![("processing", processing - way), ("transfer", transfer)]
            });
        }
    }
}

/// One client that asks again and again, on a connection for each request.
fn one_by_one(address: SocketAddr, backend: Backend) -> Options {
    Options {
        backend,
        duration: Span::from_millis(600),
        protocol: Protocol { requests_per_connection: NonZeroU32::new(1), ..Protocol::default() },
        ..options_for(address, "/")
    }
}

#[test]
fn a_server_that_accepts_late_delays_processing_and_not_connecting() {
    const LATE: Duration = Duration::from_millis(5);
    for backend in BACKENDS {
        is_right(&format!("{backend}"), LATE.as_secs_f64() / 10.0, || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let generator = thread::spawn(move || rows(one_by_one(address, backend)));
            // From one response to the next the client does nothing but connect and wait. The
            // bound is a part of that, since both phases begin with work of the generator's.
            let mut between = Vec::new();
            let mut before = None;
            listener.set_nonblocking(true).unwrap();
            while !generator.is_finished() {
                thread::sleep(LATE);
                let Ok((mut stream, _)) = listener.accept() else { continue };
                stream.set_nonblocking(false).unwrap();
                if stream.read(&mut [0; 1024]).is_ok_and(|length| length > 0) {
                    stream.write_all(EMPTY).unwrap();
                    let now = Instant::now();
                    between
                        .extend(before.replace(now).map(|before| now.duration_since(before).as_secs_f64()));
                }
            }
            let rows = generator.join().unwrap();
            let both = rows.iter().map(|row| row.connect_ns.as_secs_f64() + seconds(row.processing_ns));
            vec![
                ("connect", quartile(rows.iter().map(|row| row.connect_ns.as_secs_f64()))),
                ("connect and processing", quartile(both) - quartile(between.into_iter())),
            ]
        });
    }
}

#[test]
fn a_lost_syn_is_a_second_of_connecting() {
    for backend in BACKENDS {
        let full = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&full, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        listen(&full, 0).unwrap();
        let full = TcpListener::from(full);
        let address = full.local_addr().unwrap();
        let occupant = TcpStream::connect(address).unwrap();

        let began = Instant::now();
        let generator = thread::spawn(move || rows(one_by_one(address, backend)));
        // Room is made while the client waits for the kernel to send its SYN again.
        thread::sleep(Duration::from_millis(300));
        drop((full.accept().unwrap(), occupant));
        let (mut stream, _) = full.accept().unwrap();
        assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
        // Who has sent a request knows that it is connected.
        let most = began.elapsed().as_secs_f64();
        stream.write_all(EMPTY).unwrap();
        let rows = generator.join().unwrap();
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0].syn_retransmits, 1, "{rows:?}");
        let connect = rows[0].connect_ns.as_secs_f64();
        // RFC 6298, section 2.1: a SYN is sent again after a second.
        assert!(connect > 0.99 && connect < most, "{connect} s of {most} s");
    }
}

#[test]
fn the_handshake_of_tls_has_a_phase_of_its_own_on_new_connections() {
    const LATE: Duration = Duration::from_millis(20);
    let content = tempfile::tempdir().unwrap();
    std::fs::write(content.path().join("index.html"), "hello").unwrap();
    let Some(server) = Nginx::start(content.path(), "") else { return };
    let behind = server.tls_url().replace("https://localhost", "127.0.0.1");
    // What the client says first, in TLS, is held up; TCP is not. Key exchanges take a millisecond,
    // more or less, so that the bound is a part of what they are late.
    let held_up = |late: Duration| {
        let slept = Arc::new(Mutex::new(Vec::new()));
        let relay = Hostile::start({
            let (slept, behind) = (Arc::clone(&slept), behind.clone());
            move |stream, _| {
                let began = Instant::now();
                thread::sleep(late);
                slept.lock().unwrap().push(began.elapsed().as_secs_f64());
                pass_on(stream, &TcpStream::connect(&behind).unwrap());
            }
        });
        let rows = rows(Options {
            target: format!("https://{}/", relay.address()).parse().unwrap(),
            duration: Span::from_millis(1500),
            protocol: Protocol {
                requests_per_connection: NonZeroU32::new(3),
                insecure: true,
                ..Protocol::default()
            },
            ..options_for(relay.address(), "/")
        });
        let slept = quartile(slept.lock().unwrap().iter().copied());
        let (reused, new): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.reused);
        assert!(reused.iter().all(|row| row.connect_ns.is_zero() && row.tls_ns.is_zero()), "{reused:?}");
        assert!(new.iter().all(|row| row.tls_ns > Span::ZERO) && reused.len() > new.len());
        let connect = quartile(new.iter().map(|row| row.connect_ns.as_secs_f64()));
        (quartile(new.iter().map(|row| row.tls_ns.as_secs_f64())) - slept, connect)
    };
    is_right("TLS", LATE.as_secs_f64() / 10.0, || {
        let (at_once, late) = (held_up(Duration::ZERO), held_up(LATE));
        vec![("connect", late.1), ("handshake", late.0 - at_once.0)]
    });
}

/// Copies both ways until both have ended.
fn pass_on(client: &TcpStream, server: &TcpStream) {
    for stream in [client, server] {
        stream.set_nodelay(true).unwrap();
    }
    let copy = |mut from: &TcpStream, mut to: &TcpStream| {
        // A connection that is cut off ends it as well as one that is closed.
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    };
    thread::scope(|scope| {
        scope.spawn(|| copy(client, server));
        copy(server, client);
    });
}
