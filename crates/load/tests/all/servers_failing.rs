//! Counts agree to the request with the access log of nginx when requests fail, over both ways to
//! the kernel.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::time::Duration;

use crate::common::agree::{Agreed, BACKENDS, Server, agree, check_nginx, clients, documents, options};
use load::Options;
use record::{RequestError, RequestRow};
use rustix::process::{Pid, Signal, kill_process};
use testkit::{Hostile, Nginx};
use units::Span;

#[test]
fn statuses_of_failures() {
    for (status, body) in [(404, "none"), (500, "broken"), (503, "busy"), (301, "/elsewhere"), (204, "")] {
        let extra = format!("location /it {{ return {status} {body}; }}");
        check_nginx(
            &extra,
            "/it",
            |_, _| (),
            |agreed| {
                agreed.all_responded();
                assert_eq!(agreed.summary.status.get(&status), Some(&agreed.summary.requests));
            },
        );
    }
}

fn failed(agreed: &Agreed, error: RequestError) -> impl Iterator<Item = &RequestRow> {
    agreed.rows.iter().filter(move |row| row.error == Some(error))
}

#[test]
fn requests_that_meet_their_timeout() {
    // The first KiB comes at once, the second a second later.
    let extra = "location /many { limit_rate 1k; }";
    let impatient = |options: &mut Options, _: &Nginx| options.timeout = Some(Span::from_millis(30));
    check_nginx(extra, "/many", impatient, |agreed| {
        assert!(agreed.summary.requests > 2);
        assert_eq!(agreed.summary.errors.timeout, agreed.summary.requests);
        assert!(failed(agreed, RequestError::Timeout).any(|row| row.status == Some(200)));
        assert_eq!(agreed.log.len(), agreed.rows.len());
    });
    let stalled = Hostile::start(|stream, _| {
        let _ = std::io::copy(&mut &*stream, &mut std::io::sink());
    });
    let extra = format!("location /stall {{ proxy_pass http://{}; }}", stalled.address());
    check_nginx(&extra, "/stall", impatient, |agreed| {
        assert!(failed(agreed, RequestError::Timeout).all(|row| row.status.is_none()));
        assert!(agreed.log.iter().all(|line| line.status == 499), "the client went away");
        assert_eq!(agreed.log.len() as u64, agreed.summary.errors.timeout);
    });
}

#[test]
fn a_drain_that_is_cut_short() {
    let extra = "location /many { limit_rate 1k; }";
    let change = |options: &mut Options, _: &Nginx| {
        options.drain = Some(Span::ZERO);
        options.load = crate::common::closed(5);
    };
    check_nginx(extra, "/many", change, |agreed| {
        assert_eq!(agreed.summary.censored, 5);
        assert_eq!(agreed.summary.errors.total(), 0);
        assert_eq!(failed(agreed, RequestError::Censored).count(), agreed.log.len());
    });
}

#[test]
fn bodies_that_break_off() {
    let broken = Hostile::start(|mut stream, _| {
        use std::io::{Read, Write};
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 9000\r\n\r\n");
        let _ = stream.write_all(&[b'x'; 5000]);
    });
    let extra = format!("location /broken {{ proxy_pass http://{}; }}", broken.address());
    check_nginx(
        &extra,
        "/broken",
        |_, _| (),
        |agreed| {
            assert!(agreed.summary.requests > 2);
            assert_eq!(agreed.summary.errors.body, agreed.summary.requests, "{:?}", agreed.summary.errors);
            let sent: u64 = agreed.log.iter().map(|line| line.body_bytes).sum();
            assert_eq!(agreed.summary.bytes, sent, "what came before is counted");
        },
    );
}

#[test]
fn a_server_that_takes_up_a_new_configuration() {
    let documents = documents();
    for backend in BACKENDS {
        let Some(nginx) = Nginx::start(documents.path(), "keepalive_requests 100000;") else { return };
        let master = Pid::from_raw(nginx.pid().cast_signed()).unwrap();
        let server = Server::Nginx(nginx);
        let options = Options { backend, load: clients(4), ..options(&server, "/one") };
        let reload = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            kill_process(master, Signal::HUP).unwrap();
        });
        let agreed = agree(server, options);
        reload.join().unwrap();
        agreed.all_responded();
    }
}
