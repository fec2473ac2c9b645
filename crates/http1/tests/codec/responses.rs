//! Responses made of well-formed and malformed pieces, with hyper as the judge.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::targets::against_hyper;
use crate::targets::responses::try_on;

/// Pieces of which responses are made, well and badly.
const FRAGMENTS: &[&str] = &[
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200\r\n",
    "HTTP/1.0 200 OK\r\n",
    "HTTP/1.1 103 Early\r\n",
    "HTTP/1.1 204 No\r\n",
    "content-length: 5\r\n",
    "content-length: 5\r\n\r\n",
    "content-length: 0\r\n",
    "content-length: 5, 5\r\n",
    "transfer-encoding: chunked\r\n",
    "transfer-encoding: chunked\r\n\r\n",
    "transfer-encoding: gzip\r\n",
    "connection: close\r\n",
    "x: y\r\n",
    "\r\n",
    "\n",
    "\r",
    "5\r\nhello\r\n",
    "5;a=b\r\nhello\r\n",
    "0\r\n",
    "0\r\n\r\n",
    "hello",
    " ",
    "\0",
];

#[test]
fn hyper_reads_the_same_response() {
    let config = Config { cases: 4000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let fragments = prop::collection::vec(prop::sample::select(FRAGMENTS), 0..14);
    runner
        .run(&(any::<u8>(), 0..8_u8, fragments), |(size, kind, fragments)| {
            let bytes = fragments.concat();
            try_on(&[&[size, kind], bytes.as_bytes()].concat());
            against_hyper::try_on(&[&[2 * u8::from(kind > 0) + 1], bytes.as_bytes()].concat());
            Ok(())
        })
        .unwrap();
}
