//! Servers that misbehave below HTTP/1: in TLS, and in the frames of HTTP/2.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use crate::common::agree::BACKENDS;
use crate::common::{ok, options, run};
use load::{Backend, Error, Http, Load, Options, Protocol, Report};
use record::ErrorCounts;
use testkit::{Hostile, Nginx};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};
use traffic::Think;
use units::Span;

/// A run over TLS against a server that does not speak it.
#[track_caller]
fn check_tls(server: &Hostile, change: impl Fn(&mut Options), verify: impl Fn(Report)) {
    for backend in BACKENDS {
        for http in [Http::Http11, Http::Http2] {
            let address = server.address();
            let mut options = Options {
                target: format!("https://{address}/").parse().unwrap(),
                protocol: Protocol { insecure: true, http, ..Protocol::default() },
                backend,
                ..options(address)
            };
            change(&mut options);
            verify(run(&options));
        }
    }
}

#[test]
fn garbage_instead_of_a_handshake_is_no_connection() {
    let server = Hostile::start(|mut stream, _| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    check_tls(
        &server,
        |_| (),
        |report| {
            let summary = &report.summary;
            assert!(summary.requests > 1);
            assert_eq!(summary.errors.connect, summary.requests, "{:?}", summary.errors);
            let why = report.never_connected.as_deref().unwrap();
            assert!(why.contains("InvalidContentType") || why.contains("corrupt"), "{why}");
        },
    );
}

#[test]
fn a_handshake_without_end_meets_the_timeout() {
    let server = Hostile::start(|stream, _| {
        let _ = std::io::copy(&mut &*stream, &mut std::io::sink());
    });
    check_tls(
        &server,
        |options| options.timeout = Some(Span::from_millis(50)),
        |report| {
            let summary = &report.summary;
            assert!(summary.requests > 1);
            assert_eq!(summary.errors.timeout, summary.requests, "{:?}", summary.errors);
            assert_eq!(summary.connections.opened, 0);
            assert!(report.never_connected.unwrap().contains("timeout"));
        },
    );
}

/// A server that has certificates and answers as `answer` does.
fn encrypted(
    answer: impl Fn(&mut StreamOwned<ServerConnection, &TcpStream>) + Send + Sync + 'static,
) -> Hostile {
    let (certificate, key) = testkit::identity();
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    Hostile::start(move |stream, _| {
        let session = ServerConnection::new(Arc::clone(&config)).unwrap();
        answer(&mut StreamOwned::new(session, stream));
    })
}

#[test]
fn what_an_encrypted_server_says_to_an_idle_connection_is_no_answer() {
    for (pause, depth) in [(0, 1), (3, 1), (0, 5)] {
        let pause = Duration::from_millis(pause);
        let server = encrypted(move |stream| {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(&ok(2));
            let _ = stream.flush();
            std::thread::sleep(pause);
            let _ = stream.write_all(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
            let _ = stream.read(&mut [0; 1024]);
        });
        for backend in BACKENDS {
            let address = server.address();
            let think = Some(Think::constant(Span::from_millis(300)));
            let pipeline = NonZeroU32::new(depth);
            let options = Options {
                target: format!("https://{address}/").parse().unwrap(),
                protocol: Protocol { insecure: true, http: Http::Http11, pipeline, ..Protocol::default() },
                backend,
                load: Load::Closed { clients: 1, ramp: None, think },
                duration: Span::from_secs(20),
                count: Some(if depth == 1 { 3 } else { 1 }),
                ..options(address)
            };
            let summary = run(&options).summary;
            assert_eq!(Some(summary.requests), options.count, "{summary:?}");
            assert_eq!(summary.status.get(&200), Some(&summary.requests), "{summary:?}");
        }
    }
}

#[test]
fn a_certificate_that_is_not_trusted_is_said() {
    let root = tempfile::tempdir().unwrap();
    let Some(nginx) = Nginx::start(root.path(), "return 200 fine;") else { return };
    let try_it = |url: &str, protocol: &Protocol| {
        let placeholder = "127.0.0.1:1".parse().unwrap();
        let target = url.parse().unwrap();
        load::run(&Options { target, protocol: protocol.clone(), ..options(placeholder) })
    };
    let why = |url: &str, protocol: &Protocol| {
        let report = try_it(url, protocol).unwrap();
        assert_eq!(report.summary.errors.connect, report.summary.requests);
        report.never_connected.unwrap()
    };
    let trusting = Protocol { authorities: Some(nginx.certificate_file()), ..Protocol::default() };
    assert!(why(nginx.tls_url(), &Protocol::default()).contains("UnknownIssuer"));
    let elsewhere = nginx.tls_url().replace("localhost", "127.0.0.2");
    let via = elsewhere.replace("127.0.0.2", "127.0.0.1");
    assert!(try_it(&via, &trusting).unwrap().summary.responses > 0, "the address is in the certificate");
    let placeholder = "127.0.0.1:1".parse().unwrap();
    let target: load::Target = elsewhere.parse().unwrap();
    let target = target.via(via.strip_prefix("https://").unwrap().parse().unwrap());
    let other_name = load::run(&Options { target, protocol: trusting, ..options(placeholder) }).unwrap();
    let why = other_name.never_connected.unwrap();
    assert!(why.contains("not valid for name"), "{why}");
    let missing = Protocol { authorities: Some("/missing.pem".into()), ..Protocol::default() };
    assert!(
        matches!(try_it(nginx.tls_url(), &missing), Err(Error::Tls(why)) if why.contains("/missing.pem"))
    );
}

const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const GO_AWAY: u8 = 7;

/// Appends a frame (RFC 9113, section 4.1).
fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&u32::try_from(payload.len()).unwrap().to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// A server of HTTP/2 in the clear that answers each request, by its stream, with frames; none
/// close the connection.
fn http2(answer: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> Hostile {
    Hostile::start(move |stream, _| {
        let _ = serve(stream, &answer);
    })
}

fn serve(mut stream: &TcpStream, answer: &impl Fn(u32) -> Vec<u8>) -> std::io::Result<()> {
    // The client's preface.
    stream.read_exact(&mut [0; 24])?;
    let mut out = Vec::new();
    frame(&mut out, SETTINGS, 0, 0, &[]);
    stream.write_all(&out)?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize])?;
        if head[3] == HEADERS {
            let answer = answer(u32::from_be_bytes([head[5], head[6], head[7], head[8]]));
            if answer.is_empty() {
                return Ok(());
            }
            stream.write_all(&answer)?;
        }
    }
}

/// Every request of a run of two streams against such a server fails so.
#[track_caller]
fn check_http2(server: &Hostile, error: fn(&ErrorCounts) -> u64) {
    for backend in BACKENDS {
        let protocol = Protocol { http: Http::Http2, pipeline: 2.try_into().ok(), ..Protocol::default() };
        let summary = run(&Options { protocol, backend, ..options(server.address()) }).summary;
        let cut = summary.censored - summary.errors.timeout;
        assert!(summary.requests > 2, "the run goes on");
        assert_eq!(error(&summary.errors), summary.requests - cut, "{:?}", summary.errors);
    }
}

#[test]
fn what_is_no_frame_is_a_protocol_error() {
    let server = Hostile::start(|mut stream, _| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    check_http2(&server, |errors| errors.protocol);
    check_http2(
        &http2(|stream| {
            let mut out = Vec::new();
            // No compressed header begins so (RFC 7541, section 6.1).
            frame(&mut out, HEADERS, 5, stream, &[0x80]);
            out
        }),
        |errors| errors.protocol,
    );
}

const NO_ERROR: u32 = 0;
const PROTOCOL_ERROR: u32 = 1;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;
const ENHANCE_YOUR_CALM: u32 = 11;

/// The server goes away; streams above `last` were not taken.
fn go_away(last: u32, code: u32) -> Vec<u8> {
    let mut out = Vec::new();
    frame(&mut out, GO_AWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat());
    out
}

fn reset(stream: u32, code: u32) -> Vec<u8> {
    let mut out = Vec::new();
    frame(&mut out, RESET, 0, stream, &code.to_be_bytes());
    out
}

/// 204, from the static table (RFC 7541, appendix A).
fn no_content(stream: u32) -> Vec<u8> {
    let mut out = Vec::new();
    frame(&mut out, HEADERS, 5, stream, &[0x89]);
    out
}

#[test]
fn connections_and_streams_that_the_server_breaks_off_are_errors() {
    check_http2(&http2(|_| Vec::new()), |errors| errors.reset);
    check_http2(&http2(|_| go_away(0, PROTOCOL_ERROR)), |errors| errors.protocol);
    check_http2(&http2(|_| go_away(0, ENHANCE_YOUR_CALM)), |errors| errors.reset);
    check_http2(&http2(|stream| reset(stream, INTERNAL_ERROR)), |errors| errors.reset);
}

/// Runs sixteen streams at once against such a server.
fn run_http2(server: &Hostile, backend: Backend) -> Report {
    let protocol = Protocol { http: Http::Http2, pipeline: 16.try_into().ok(), ..Protocol::default() };
    run(&Options { protocol, backend, ..options(server.address()) })
}

#[test]
fn streams_that_the_server_never_took_are_sent_again() {
    // It refuses every second or so, without an order that requests could fall in with; and goes away after three.
    let refusing = http2(|stream| match stream.wrapping_mul(2_654_435_761) >> 31 {
        0 => no_content(stream),
        _ => reset(stream, REFUSED_STREAM),
    });
    let leaving = http2(|stream| match stream {
        1..=5 => no_content(stream),
        _ => go_away(5, NO_ERROR),
    });
    for (server, backend) in
        [&refusing, &leaving].into_iter().flat_map(|one| BACKENDS.map(|backend| (one, backend)))
    {
        let summary = run_http2(server, backend).summary;
        assert!(summary.responses > 50, "{summary:?}");
        assert_eq!(summary.errors.total(), 0, "{:?}", summary.error_details);
        assert_eq!(summary.responses + summary.censored, summary.requests);
    }
}

#[test]
fn a_server_that_takes_no_stream_costs_no_processor_and_is_told() {
    for (code, server) in [
        ("REFUSED_STREAM", http2(|stream| reset(stream, REFUSED_STREAM))),
        ("NO_ERROR", http2(|_| go_away(0, NO_ERROR))),
    ] {
        let options = Options { timeout: Some(Span::from_millis(80)), ..options(server.address()) };
        let protocol = Protocol { http: Http::Http2, pipeline: 4.try_into().ok(), ..Protocol::default() };
        let summary = run(&Options { protocol, ..options }).summary;
        assert_eq!(summary.responses, 0);
        assert!(
            summary.errors.timeout > 0 && summary.errors.total() == summary.errors.timeout,
            "{code}: {summary:?}"
        );
        let why = &summary.error_details[0].reason;
        assert!(why.starts_with("turned away by the server "), "{why}");
        // After the third time each takes longer than the one before.
        assert!(summary.requests < 40, "{code}: {}", summary.requests);
    }
}
