//! Trying the reader of responses on any bytes, with hyper as the judge: what is read as a whole
//! response, hyper reads as the same one.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::bare::read_head;
use super::chunks::Piece;
use super::response::{Framing, Head};

/// What is made of some bytes.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    status: StatusCode,
    headers: HeaderMap,
    /// Bytes of all heads.
    heads: usize,
    body: Vec<u8>,
    trailers: Option<HeaderMap>,
    end: End,
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The body is whole; so many bytes follow it.
    Whole(usize),
    /// The connection ends in the body, which has no other end.
    Close,
    /// The connection ends too soon.
    Short,
    Malformed,
}

/// A server that says some bytes in pieces, and then closes.
struct Server<'a> {
    rest: &'a [u8],
    size: usize,
    /// Whether a request has come.
    asked: bool,
}

impl AsyncRead for Server<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.asked {
            return Poll::Pending;
        }
        let (now, rest) = self.rest.split_at(self.size.min(to.remaining()).min(self.rest.len()));
        to.put_slice(now);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Server<'_> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.asked = true;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// What is read of `bytes` that come `size` at a time; none without a well-formed head.
fn read(bytes: &[u8], size: usize, method: &Method) -> Option<Outcome> {
    let (mut server, mut buffer) = (Server { rest: bytes, size, asked: true }, BytesMut::new());
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready(head) = pin!(read_head(&mut server, &mut buffer, method)).poll(&mut cx) else {
        panic!("a server that is never waited for")
    };
    let Head { response, mut framing, rest: mut here, .. } = head.ok()?;
    let heads = bytes.len() - server.rest.len() - here.len();
    let (mut body, mut trailers) = (Vec::new(), None);
    let end = loop {
        match framing.next(&mut here) {
            Ok(Piece::Data(data)) => body.extend_from_slice(&data),
            Ok(Piece::Trailers(fields)) => trailers = Some(fields),
            Ok(Piece::End) => break End::Whole(here.len() + server.rest.len()),
            Ok(Piece::More) if !server.rest.is_empty() => {
                let (now, rest) = server.rest.split_at(size.min(server.rest.len()));
                (here, server.rest) = (Bytes::copy_from_slice(now), rest);
            }
            Ok(Piece::More) => break if framing == Framing::UntilClose { End::Close } else { End::Short },
            Err(_) => break End::Malformed,
        }
    };
    let (head, ()) = response.into_parts();
    Some(Outcome { status: head.status, headers: head.headers, heads, body, trailers, end })
}

/// Tries the reader on `data`. The first byte says how it arrives, the second whether it answers a
/// HEAD.
///
/// # Panics
/// When it matters how the bytes arrive, when something that has two meanings is taken for one of
/// them, or when hyper reads something else.
pub(crate) fn try_on(data: &[u8]) {
    let [size, kind, bytes @ ..] = data else { return };
    let method = if *kind == 0 { Method::HEAD } else { Method::GET };
    let whole = read(bytes, usize::MAX, &method);
    let split = read(bytes, usize::from(*size) + 1, &method);
    let context = bytes.escape_ascii();
    assert_eq!(split, whole, "in pieces of {size}: {context}");
    let Some(outcome) = whole else { return };
    let heads = &bytes[..outcome.heads];
    for (at, byte) in heads.iter().enumerate() {
        let sound = match byte {
            b'\n' => at > 0 && heads[at - 1] == b'\r',
            b'\r' => heads.get(at + 1) == Some(&b'\n'),
            _ => true,
        };
        assert!(sound, "half a line end at {at}: {context}");
    }
    let count = |name| outcome.headers.get_all(name).iter().count();
    assert!(count(TRANSFER_ENCODING) == 0 || count(CONTENT_LENGTH) == 0, "two lengths: {context}");
    judge(&outcome, bytes, &method);
}

fn judge(outcome: &Outcome, bytes: &[u8], method: &Method) {
    let context = bytes.escape_ascii();
    if let End::Whole(after) = outcome.end {
        let came = &bytes[outcome.heads..bytes.len() - after];
        let plain = !outcome.headers.contains_key(TRANSFER_ENCODING);
        assert!(!plain || came == outcome.body, "what is left over is none of the body's: {context}");
    }
    let whole = matches!(outcome.end, End::Whole(_) | End::Close);
    // By then it is no HTTP any more.
    if whole && outcome.status != StatusCode::SWITCHING_PROTOCOLS {
        let hyper = hyper_reads(bytes, method);
        assert_eq!(hyper, Some((outcome.status, outcome.body.clone())), "{context}");
    }
}

/// The status and the body that hyper reads; none when it finds fault with them.
fn hyper_reads(bytes: &[u8], method: &Method) -> Option<(StatusCode, Vec<u8>)> {
    let reading = async {
        let io = TokioIo::new(Server { rest: bytes, size: usize::MAX, asked: false });
        let (mut sender, connection) = http1::handshake(io).await.ok()?;
        let mut request = Request::new(Empty::<Bytes>::new());
        method.clone_into(request.method_mut());
        let answered = async {
            let response = sender.send_request(request).await.ok()?;
            let status = response.status();
            Some((status, response.collect().await.ok()?.to_bytes().to_vec()))
        };
        tokio::join!(answered, connection).0
    };
    let mut reading = pin!(reading);
    // Nothing is waited for, so every turn gets on; what takes longer hangs.
    for _ in 0..10_000 {
        if let Poll::Ready(read) = reading.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return read;
        }
    }
    panic!("hyper does not come to an end: {}", bytes.escape_ascii())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

    use super::*;

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
                try_on(&[&[size, kind], fragments.concat().as_bytes()].concat());
                Ok(())
            })
            .unwrap();
    }
}
