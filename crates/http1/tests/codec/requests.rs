//! Requests: what passes and what does not, line by line. The gate's `tests/corpus` has more.

use http1::request::{Breach, Filter, Limits, Stop};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::targets::against_hyper;
use crate::targets::requests::{through, try_on};

/// What comes of a request followed by another one.
#[track_caller]
fn check(first: &str, expected: Result<(), Stop>) {
    let all = [first.as_bytes(), b"GET /next HTTP/1.1\r\nHost: t\r\n\r\n"].concat();
    let whole = through(&all, usize::MAX, 64 * 1024);
    for piece in [1, 2, 3, 7, 64] {
        assert_eq!(through(&all, piece, 100), whole, "{first:?} in pieces of {piece}");
    }
    match expected {
        Ok(()) => {
            assert_eq!((whole.requests, whole.stop), (2, None), "{first:?}");
            assert_eq!(whole.passed, all, "{first:?}");
        }
        Err(stop) => {
            assert_eq!(whole.stop, Some(stop), "{first:?}");
            assert!(all.starts_with(&whole.passed), "{first:?}");
        }
    }
}

fn refused(first: &str, breach: Breach) {
    check(first, Err(Stop::Head(breach, 0)));
}

fn with(lines: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: t\r\n{lines}\r\n")
}

#[test]
fn good_requests_pass_unchanged() {
    for request in [
        "GET / HTTP/1.1\r\nHost: t\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nhost:t\r\n\r\n",
        "GET /a/%20b?c={d}|e&f=\\ HTTP/1.1\r\nHost: \t[::1]:80 \r\nX: \t a\tb \r\nY:\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET HTTPS://t:443 HTTP/1.1\r\nHost: T\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\nGET /",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: Chunked\r\n\r\n1;a=\"b c\"\r\n\n\r\n00\r\nA: b\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: t\r\nConnection: keep-alive, x-a,\r\n\r\n",
    ] {
        check(request, Ok(()));
    }
}

#[test]
fn each_breach_has_its_name() {
    use Breach::*;
    refused("GET / HTTP/1.1\nHost: t\r\n\r\n", LineEnd);
    refused("\nGET / HTTP/1.1\r\nHost: t\r\n\r\n", LineEnd);
    refused("GET / HTTP/1.1\r\nHost: t\r\n\n", LineEnd);
    refused("\r\n\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n", RequestLine);
    refused("GET /\r\n\r\n", RequestLine);
    refused(&format!("{} / HTTP/1.1\r\n", "M".repeat(33)), Method);
    refused("GET a HTTP/1.1\r\nHost: t\r\n\r\n", Target);
    refused("GET ?a HTTP/1.1\r\nHost: t\r\n\r\n", Target);
    refused("GET http://t?a HTTP/1.1\r\nHost: t\r\n\r\n", Target);
    refused(&format!("GET /{}", "a".repeat(9000)), TargetSize);
    refused("GET / HTTP/3.0\r\n\r\n", Version);
    refused(&with("A : b\r\n"), Field);
    refused(&with(" A: b\r\n"), Field);
    refused(&with("A: \u{1}\r\n"), Field);
    refused(&with(&format!("A: {}\r\n", "a".repeat(17_000))), FieldSize);
    refused(&with(&"A: b\r\n".repeat(100)), Fields);
    refused(&with(&format!("A: {}\r\n", "a".repeat(1000)).repeat(33)), HeadSize);
    refused("GET / HTTP/1.1\r\n\r\n", Host);
    refused(&with("host: t\r\n"), Host);
    refused("GET http://u/ HTTP/1.1\r\nHost: t\r\n\r\n", Host);
    refused(&with("Content-Length: 1, 1\r\n"), Length);
    refused(&with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), Length);
    refused(&with("Transfer-Encoding: identity\r\n"), Coding);
    refused(&with("Transfer-Encoding: gzip, chunked\r\n"), UnknownCoding);
    refused(&with("Connection: via\r\n"), Connection);
    refused(&with("Content_Length: 1\r\n"), Alias);
    refused(&with("Expect: much\r\n"), Expectation);
    let chunked = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = |body: &str, breach| check(&format!("{chunked}{body}"), Err(Stop::Body(breach)));
    body("g\r\n", Chunk);
    body("1\r\nab\r\n", Chunk);
    body("1000000000000000\r\n", Chunk);
    body(&format!("1;{}\r\n", "a".repeat(300)), ChunkLine);
    body("0\r\nA b: c\r\n\r\n", Trailer);
    body("0\r\nTrailer: c\r\n\r\n", Trailer);
    body(&format!("0\r\nA: {}\r\n\r\n", "b".repeat(5000)), TrailerSize);
}

#[test]
fn what_came_before_a_breach_passes() {
    let good = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nab";
    let all = format!("{good}{good}GET / HTTP/1.1\r\nHost: t\r\nHost: u\r\n\r\n{good}");
    for piece in [1, 5, 1000] {
        let outcome = through(all.as_bytes(), piece, 4096);
        assert_eq!(outcome.passed, good.repeat(2).as_bytes());
        assert_eq!(outcome.stop, Some(Stop::Head(Breach::Host, 2)));
    }
}

#[test]
fn what_follows_a_request_for_an_upgrade_waits_for_the_answer() {
    let mut filter = Filter::new(Limits::default());
    let request = b"GET / HTTP/1.1\r\nHost: t\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    let mut all = Some([&request[..], request, b"\0\xff"].concat());
    let mut read = |answered| {
        filter.answered(answered);
        let came = all.take().unwrap_or_default();
        let good = filter.take(&came);
        let passed = [&came[..good], filter.ready()].concat();
        filter.passed(filter.ready().len());
        (passed, filter.waits(), filter.stop())
    };
    assert_eq!(read(0), (request.to_vec(), true, None));
    assert_eq!(read(0), (Vec::new(), true, None));
    assert_eq!(read(1), (request.to_vec(), true, None));
    assert_eq!(read(1), (Vec::new(), true, None));
    assert_eq!(read(2), (Vec::new(), false, Some(Stop::Head(Breach::RequestLine, 2))));
}

/// Pieces of which requests are made, well and badly.
const FRAGMENTS: &[&str] = &[
    "GET / HTTP/1.1\r\n",
    "POST /a?b HTTP/1.1\r\n",
    "POST / HTTP/1.0\r\n",
    "OPTIONS * HTTP/1.1\r\n",
    "CONNECT t:1 HTTP/1.1\r\n",
    "GET http://t/ HTTP/1.1\r\n",
    "PRI * HTTP/2.0\r\n\r\n",
    "Host: t\r\n",
    "Host: t\r\n\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: 11\r\n\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\n\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "Expect: 100-continue\r\n",
    "Upgrade: websocket\r\n",
    "X: y\r\n",
    "\r\n",
    "\n",
    "\r",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    "0;a\r\nX: y\r\n\r\n",
    "hello",
    " ",
    ":",
    "\0",
    "GET",
];

#[test]
fn hyper_reads_what_passes_in_the_same_way() {
    let config = Config { cases: 4000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let fragments = prop::collection::vec(prop::sample::select(FRAGMENTS), 0..12);
    runner
        .run(&(any::<u8>(), any::<u8>(), fragments), |(piece, room, fragments)| {
            let bytes = fragments.concat();
            try_on(&[&[piece, room], bytes.as_bytes()].concat());
            // A line is looked at when it has ended, if not before.
            against_hyper::try_on(&[b"\0", bytes.as_bytes(), b"\n"].concat());
            Ok(())
        })
        .unwrap();
}
