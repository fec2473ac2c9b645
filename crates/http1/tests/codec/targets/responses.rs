//! Responses: what is read does not depend on how the bytes arrive, what has two meanings is refused,
//! and hyper reads the same body.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use http1::response::{Body, Message, Piece, Reader};
use hyper::client::conn::http1 as client;
use hyper::rt::{Read, ReadBufCursor, Write};

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

/// Bytes that come in pieces.
struct Pieces<'a> {
    rest: &'a [u8],
    size: usize,
}

impl<'a> Pieces<'a> {
    /// The next piece, which is empty in the end.
    fn next(&mut self) -> &'a [u8] {
        let (now, rest) = self.rest.split_at(self.size.min(self.rest.len()));
        self.rest = rest;
        now
    }
}

/// What is read of `bytes` that come `size` at a time; none without a well-formed head.
fn read(bytes: &[u8], size: usize, method: &Method) -> Option<Outcome> {
    let (mut pieces, mut buffer) = (Pieces { rest: bytes, size }, BytesMut::new());
    let mut reader = Reader::default();
    let message = loop {
        if let Some(message) = reader.read(&mut buffer, method).ok()? {
            break message;
        }
        let piece = pieces.next();
        if piece.is_empty() {
            return None;
        }
        buffer.extend_from_slice(piece);
    };
    let Message { response, body: mut coming, rest: mut here, .. } = message;
    let heads = bytes.len() - pieces.rest.len() - here.len();
    let (mut body, mut trailers) = (Vec::new(), None);
    let end = loop {
        match coming.next(&mut here) {
            Ok(Piece::Data(data)) => body.extend_from_slice(&data),
            Ok(Piece::Trailers(fields)) => trailers = Some(fields),
            Ok(Piece::End) => break End::Whole(here.len() + pieces.rest.len()),
            Ok(Piece::More) if !pieces.rest.is_empty() => here = Bytes::copy_from_slice(pieces.next()),
            Ok(Piece::More) => break if coming == Body::UntilClose { End::Close } else { End::Short },
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
        assert!(!plain || came == outcome.body, "what is left over is not of the body: {context}");
    }
    let whole = matches!(outcome.end, End::Whole(_) | End::Close);
    // By then, HTTP is not spoken any more.
    if whole && outcome.status != StatusCode::SWITCHING_PROTOCOLS {
        let hyper = hyper_reads(bytes, method);
        assert_eq!(hyper, Some((outcome.status, outcome.body.clone())), "{context}");
    }
}

/// A server in memory that says some bytes once it is asked, and then closes.
struct Server<'a> {
    rest: &'a [u8],
    asked: bool,
}

impl Read for Server<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut to: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.asked {
            return Poll::Pending;
        }
        let (now, rest) = self.rest.split_at(to.remaining().min(self.rest.len()));
        to.put_slice(now);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

impl Write for Server<'_> {
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

/// The status and the body that hyper reads; none when it finds fault with them.
fn hyper_reads(bytes: &[u8], method: &Method) -> Option<(StatusCode, Vec<u8>)> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut shaken = pin!(client::handshake(Server { rest: bytes, asked: false }));
    let Poll::Ready(shaken) = shaken.as_mut().poll(&mut cx) else { panic!("nothing to wait for") };
    let (mut sender, connection) = shaken.ok()?;
    let mut connection = Some(Box::pin(connection));
    let answered = async {
        let mut request = Request::new(Empty::<Bytes>::new());
        method.clone_into(request.method_mut());
        let response = sender.send_request(request).await.ok()?;
        let status = response.status();
        Some((status, response.collect().await.ok()?.to_bytes().to_vec()))
    };
    let mut answered = pin!(answered);
    // Nothing is waited for, so every turn gets on; what takes longer hangs.
    for _ in 0..10_000 {
        if let Poll::Ready(read) = answered.as_mut().poll(&mut cx) {
            return read;
        }
        if connection.as_mut().is_some_and(|moving| moving.as_mut().poll(&mut cx).is_ready()) {
            connection = None;
        }
    }
    panic!("hyper does not come to an end: {}", bytes.escape_ascii())
}
