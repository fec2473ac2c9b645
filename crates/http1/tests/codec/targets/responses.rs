//! Responses: what is read does not depend on how the bytes arrive, and what has two meanings
//! is refused.

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Method, StatusCode};
use http1::response::{Body, Limits, Message, Next, Piece, Reader};

/// What is made of some bytes.
#[derive(Debug, PartialEq, Eq)]
struct Decoded {
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
fn read(bytes: &[u8], size: usize, method: &Method) -> Option<Decoded> {
    let (mut pieces, mut buffer) = (Pieces { rest: bytes, size }, BytesMut::new());
    let mut reader = Reader::new(Limits::default());
    let message = loop {
        match reader.read(&mut buffer, method).ok()? {
            Some(Next::Final(message)) => break message,
            Some(Next::Interim(_)) => continue,
            None => {}
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
    Some(Decoded { status: head.status, headers: head.headers, heads, body, trailers, end })
}

/// Tries the reader on `data`. The first byte says how it arrives, the second whether it answers a
/// HEAD.
///
/// # Panics
/// When it matters how the bytes arrive, or when something that has two meanings is taken for one of
/// them.
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
    // Where nothing follows, nothing that is said of it can mislead.
    let follows = method != Method::HEAD && !matches!(outcome.status.as_u16(), 101 | 204 | 304);
    let lengths = count(TRANSFER_ENCODING) + count(CONTENT_LENGTH);
    assert!(!follows || lengths <= 1, "two lengths: {context}");
    if let End::Whole(after) = outcome.end {
        let came = &bytes[outcome.heads..bytes.len() - after];
        let plain = !outcome.headers.contains_key(TRANSFER_ENCODING);
        assert!(!plain || came == outcome.body, "what is left over is not of the body: {context}");
    }
}
