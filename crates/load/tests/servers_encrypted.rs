//! Counts agree to the request with the access log of nginx over TLS and HTTP/2, over both ways to
//! the kernel.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;

use std::num::NonZeroU32;

use common::agree::{Agreed, check_nginx, per_connection, pipeline, versions};
use load::{Http, Options, Protocol};
use testkit::{Nginx, free_address};

/// What a client needs to trust the server.
fn encrypted(options: &mut Options, nginx: &Nginx, protocol: Protocol) {
    options.target = format!("{}/one", nginx.tls_url()).parse().unwrap();
    options.protocol = Protocol { authorities: Some(nginx.certificate_file()), ..protocol };
}

#[test]
fn https() {
    const LONG: &str = "keepalive_requests 100000;";
    for (protocol, most) in [(Protocol::default(), 100_000), (per_connection(3), 3), (pipeline(4), 100_000)] {
        let change = |options: &mut Options, nginx: &Nginx| encrypted(options, nginx, protocol.clone());
        check_nginx(LONG, "/", change, |agreed| {
            agreed.all_responded();
            assert!(agreed.most_per_connection() <= most);
            let tls = agreed.rows.iter().filter(|row| !row.tls_ns.is_zero()).count() as u64;
            assert_eq!(tls, agreed.summary.connections.opened, "each connection has a handshake");
        });
    }
    let change = |options: &mut Options, nginx: &Nginx| {
        encrypted(options, nginx, Protocol::default());
        options.protocol.authorities = None;
        options.protocol.insecure = true;
        options.request.body = Some(vec![b'y'; 100_000].into());
    };
    check_nginx("location /one { return 200 taken; }", "/", change, Agreed::all_responded);
}

#[test]
fn http_2_over_tls() {
    let h2 = |streams| Protocol { http: Http::Http2, ..pipeline(streams) };
    for streams in [1, 8] {
        let change = |options: &mut Options, nginx: &Nginx| encrypted(options, nginx, h2(streams));
        check_nginx("keepalive_requests 100000;", "/", change, |agreed| {
            agreed.all_responded();
            versions(agreed, "GET ", " HTTP/2.0");
            assert_eq!(agreed.summary.connections.opened, 2);
        });
    }
}

#[test]
fn http_2_in_the_clear() {
    let address = free_address();
    let extra = format!("listen {address} http2; location /take {{ return 200 taken; }}");
    for (most, path) in [(u32::MAX, "/many"), (10, "/take")] {
        let change = |options: &mut Options, _: &Nginx| {
            options.target = format!("http://{address}{path}").parse().unwrap();
            options.protocol =
                Protocol { http: Http::Http2, requests_per_connection: NonZeroU32::new(most), ..pipeline(5) };
            options.request.body = (path == "/take").then(|| vec![b'y'; 100_000].into());
        };
        check_nginx(&extra, "/", change, |agreed| {
            agreed.all_responded();
            assert!(agreed.most_per_connection() <= u64::from(most));
        });
    }
}

#[test]
fn http_2_on_connections_that_the_server_ends() {
    let address = free_address();
    let extra = format!("listen {address} http2; keepalive_requests 20;");
    let change = |options: &mut Options, _: &Nginx| {
        options.target = format!("http://{address}/one").parse().unwrap();
        options.protocol = Protocol { http: Http::Http2, ..pipeline(5) };
    };
    check_nginx(&extra, "/", change, |agreed| {
        agreed.all_responded();
        assert!(agreed.summary.connections.opened > 2);
    });
}
