//! Counts agree to the request with the access log of nginx over TLS and HTTP/2, over both ways to
//! the kernel.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::num::NonZeroU32;

use crate::common::agree::{Agreed, check_nginx, clients_thinking, per_connection, pipeline, versions};
use crate::common::{options, run};
use load::{Http, Options, Protocol};
use testkit::{Nginx, free_address};
use traffic::Think;
use units::Span;

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
            agreed.opened(2..=2);
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

#[test]
fn http_2_with_and_without_bodies_and_within_their_time() {
    let address = free_address();
    let extra = format!(
        "listen {address} http2;
        location /many {{ limit_rate 1k; }} location /none {{ return 204; }} location /same {{ return 304; }}"
    );
    for (method, path, status) in [("HEAD", "/one", 200), ("GET", "/none", 204), ("GET", "/same", 304)] {
        let change = |options: &mut Options, _: &Nginx| {
            options.target = format!("http://{address}{path}").parse().unwrap();
            options.request.method = Some(method.to_owned());
            options.protocol = Protocol { http: Http::Http2, ..pipeline(2) };
        };
        check_nginx(&extra, "/", change, |agreed| {
            agreed.all_responded();
            assert_eq!(agreed.summary.status.get(&status), Some(&agreed.summary.requests));
        });
    }
    let impatient = |options: &mut Options, _: &Nginx| {
        options.target = format!("http://{address}/many").parse().unwrap();
        options.protocol = Protocol { http: Http::Http2, ..pipeline(3) };
        options.timeout = Some(Span::from_millis(30));
    };
    check_nginx(&extra, "/", impatient, |agreed| {
        assert!(agreed.summary.requests > 6);
        assert_eq!(agreed.summary.errors.timeout, agreed.summary.requests);
        assert_eq!(agreed.summary.connections.opened, 2, "a stream that is given up leaves the others");
    });
}

#[test]
fn connections_that_the_server_closes_while_they_are_idle() {
    let address = free_address();
    let extra = format!("listen {address} http2; keepalive_timeout 20ms;");
    let think = Think::exponential(Span::from_millis(20));
    for (url, http) in [(0, Http::Http11), (1, Http::Http11), (1, Http::Http2), (2, Http::Http2)] {
        let change = |options: &mut Options, nginx: &Nginx| {
            let plain = nginx.url().to_owned();
            let urls = [plain, nginx.tls_url().to_owned(), format!("http://{address}")];
            options.target = format!("{}/one", urls[url]).parse().unwrap();
            options.protocol = Protocol { http, insecure: true, ..Protocol::default() };
            options.load = clients_thinking(4, Some(think));
        };
        check_nginx(&extra, "/", change, |agreed| {
            agreed.all_responded();
            let connections = &agreed.summary.connections;
            assert!(connections.opened > 4 && connections.reused > 0, "{connections:?}");
        });
    }
}

#[test]
fn what_may_not_be_asked_twice_is_not_sent_to_a_server_that_has_closed() {
    let extra = "keepalive_timeout 5ms; location /take { return 200 taken; }";
    let think = Think::constant(Span::from_millis(50));
    for encrypted in [false, true] {
        let change = |options: &mut Options, nginx: &Nginx| {
            let url = if encrypted { nginx.tls_url() } else { nginx.url() };
            options.target = format!("{url}/take").parse().unwrap();
            options.protocol.insecure = true;
            options.request.body = Some("order".into());
            options.load = clients_thinking(4, Some(think));
        };
        check_nginx(extra, "/", change, |agreed| {
            agreed.all_responded();
            assert_eq!(agreed.summary.connections.opened, agreed.summary.requests);
        });
    }
}

#[test]
fn a_server_that_asks_for_a_certificate_gets_it_or_says_what_it_wants() {
    let content = tempfile::tempdir().unwrap();
    let asks = "ssl_protocols TLSv1.2 TLSv1.3; ssl_client_certificate certificate.pem; ssl_verify_client on; location / { return 204; }";
    let Some(nginx) = Nginx::start(content.path(), asks) else { return };
    let certificate = nginx.certificate_file();
    let identity = load::Identity { key: certificate.with_file_name("key.pem"), certificate };
    for http in [Http::Http11, Http::Http2] {
        for tls in [load::TlsVersion::Tls12, load::TlsVersion::Tls13] {
            let summary = |identity: Option<load::Identity>, resumption: bool| {
                let protocol = Protocol {
                    http,
                    authorities: Some(nginx.certificate_file()),
                    identity,
                    tls: Some(tls),
                    resumption,
                    requests_per_connection: NonZeroU32::new(2),
                    ..Protocol::default()
                };
                let target = nginx.tls_url().parse().unwrap();
                run(&Options { target, protocol, ..options("127.0.0.1:1".parse().unwrap()) }).summary
            };
            for resumption in [false, true] {
                let shown = summary(Some(identity.clone()), resumption);
                assert_eq!(shown.errors.total(), 0, "{http}, {tls}: {:?}", shown.error_details);
                assert_eq!(shown.status.keys().collect::<Vec<_>>(), [&204], "{http}, {tls}");
            }
            let without = summary(None, false);
            // nginx answers 400 instead of breaking off.
            assert_eq!(without.status.keys().collect::<Vec<_>>(), [&400], "{http}, {tls}: {without:?}");
        }
    }
}
