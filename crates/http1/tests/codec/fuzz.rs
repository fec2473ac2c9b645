//! The targets of `fuzz/`, tried on what random changes make of good and bad examples.

use testkit::sweep;

use crate::targets;

fn owned<const COUNT: usize>(seeds: [&[u8]; COUNT]) -> Vec<Vec<u8>> {
    seeds.map(<[u8]>::to_vec).to_vec()
}

#[test]
fn chunks() {
    let seeds = owned([
        b"\x035\r\nhello\r\n0\r\n\r\nnext",
        b"\0A;a=\"b;c\"\r\n0123456789\r\n1  \r\n!\r\n0\r\nx-sum: 42\r\na: b\r\n\r\n",
        b"\x01000;a\r\nTrailer: x\r\n\r\n",
        b"\x021;\r\n\n\r\n00\r\nHost: a\r\n\r\n",
        b"\x0510\r\n0123456789abcdef\r\n0\r\n\r\n",
    ]);
    sweep(targets::chunks::try_on, &seeds, 5000);
}

#[test]
fn cookies() {
    let seeds = owned([b"a=1; ours=x;ours=y ; b", b"", b"ours", b";; c = 4 ;flag; ours=", b"ours=a; OURS=b"]);
    sweep(targets::cookies::try_on, &seeds, 3000);
}

#[test]
fn proxy_headers() {
    let seeds = owned([
        b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET /",
        b"PROXY TCP6 ::1 ::1 1 2\r\n",
        b"PROXY UNKNOWN\r\n",
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x7f\0\0\x01\x7f\0\0\x01\0\x01\0\x02GET",
        b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
    ]);
    sweep(targets::proxy_headers::try_on, &seeds, 5000);
}

#[test]
fn forwarded() {
    let seeds = owned([
        b"1.1.1.1, 10.9.9.9",
        b"for=1.1.1.1;proto=https, for=\"[2001:db8::1]:80\";host=\"a,\\\"b\"",
        b"\"",
        b"for=\"\\\", for=10.0.0.7",
        b"unknown, for=_hidden, ::1, [::1]:80",
    ]);
    sweep(targets::forwarded::try_on, &seeds, 2000);
}

const RESPONSES: [&str; 6] = [
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200\r\ncontent-length: 5, 5\r\nconnection: close\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nx: y\r\n\r\nrest",
    "HTTP/1.0 200 OK\r\nx: y\r\n\r\nhello",
    "HTTP/1.1 200\r\nTransfer-Encoding: \u{ff}, chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n",
];

const REQUESTS: [&str; 5] = [
    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n",
    "GET /a?b HTTP/1.1\r\nHost: t\r\n\r\nGET / HTTP/1.1\r\nHost: t\r\nX: y\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: t\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
    "GET http://t/ HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n\r\n",
];

fn after(prefix: &[u8], text: &str) -> Vec<u8> {
    [prefix, text.as_bytes()].concat()
}

#[test]
fn requests() {
    sweep(targets::requests::try_on, &REQUESTS.map(|text| after(b"\x02\x60", text)), 3000);
}

#[test]
fn responses() {
    sweep(targets::responses::try_on, &RESPONSES.map(|text| after(b"\x03G", text)), 3000);
}

#[test]
fn against_hyper() {
    let mut seeds: Vec<_> = REQUESTS.iter().map(|text| after(b"\0", text)).collect();
    seeds.extend(RESPONSES.iter().map(|text| after(b"\x03", text)));
    sweep(targets::against_hyper::try_on, &seeds, 5000);
}
