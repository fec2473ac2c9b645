//! Requests that are followed, beside what is known of them from elsewhere.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use record::PhaseName;
use rustix::process::geteuid;
use rustix::time::{ClockId, clock_gettime};
use units::Span;
use watch::requests::{Budget, Classes, Finished, Following, Requests};

fn following(port: u16) -> Following {
    Following { ports: vec![port], classes: Classes::default(), budget: Budget::Unlimited, seed: 1 }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Uses so much processor time.
fn burn(time: Duration) {
    let begin = thread_time();
    while thread_time() - begin < time {}
}

const PARSE: Duration = Duration::from_millis(5);
const PROCESS: Duration = Duration::from_millis(10);
const LOG: Duration = Duration::from_millis(3);

/// Serves so many connections of one request each, with known costs in each phase.
fn serve(listener: &TcpListener, connections: usize) {
    for _ in 0..connections {
        let (mut stream, _) = listener.accept().unwrap();
        burn(PARSE);
        let mut request = [0; 100];
        assert!(stream.read(&mut request).unwrap() > 0);
        burn(PROCESS / 2);
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").unwrap();
        burn(PROCESS / 2);
        stream.write_all(&[b'x'; 1000]).unwrap();
        burn(LOG);
    }
}

#[test]
fn known_costs_are_found_in_each_phase() {
    if !geteuid().is_root() {
        println!("skipped: only root may load programs");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut requests = Requests::open(following(address.port())).unwrap();
    let mut told: Vec<Finished> = Vec::new();
    requests.turn(|request| told.push(*request)).unwrap();
    let server = std::thread::spawn(move || serve(&listener, 20));
    let clients = std::thread::spawn(move || {
        for _ in 0..20 {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
            let mut response = Vec::new();
            stream.read_to_end(&mut response).unwrap();
        }
    });
    let deadline = Instant::now() + Duration::from_secs(20);
    while told.len() < 20 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
        requests.turn(|request| told.push(*request)).unwrap();
    }
    server.join().unwrap();
    clients.join().unwrap();
    requests.end(|request| told.push(*request)).unwrap();
    assert_eq!(told.len(), 20);
    let known = [PARSE, PROCESS, LOG];
    for (phase, known) in PhaseName::ALL.into_iter().zip(known) {
        // What disturbs one request does not disturb most.
        let median = |of: &dyn Fn(&Finished) -> Span| {
            let mut all: Vec<_> = told.iter().map(of).collect();
            all.sort_unstable();
            all[told.len() / 2].as_secs_f64() / known.as_secs_f64()
        };
        let cpu = median(&|request| {
            request.used[phase as usize].cpu() + request.used[phase as usize].soft_interrupt
        });
        let elapsed = median(&|request| request.elapsed(phase));
        println!("{phase:?}: {cpu:.3} and {elapsed:.3} of what is known");
        assert!((0.95..1.15).contains(&cpu), "{phase:?}: {cpu}");
        assert!(elapsed > 0.95, "{phase:?}: {elapsed}");
    }
}
