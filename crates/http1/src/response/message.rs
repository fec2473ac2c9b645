//! [`Message`]: a response as `http`'s types have it, and what follows its head.

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version};

use super::body::Body;
use super::head::{Framing, Head, Strictness};
use super::malformed::Malformed;
use crate::fields::room;

/// Header lines of a response. A server that sends more is broken.
const MAX_LINES: usize = 100;
/// Headers that a proxy adds, for which there is room.
const ADDED: usize = 2;

/// A response, and what its head says of what follows.
#[derive(Debug)]
pub struct Message {
    /// The head.
    pub response: Response<()>,
    /// What is still to come of the body.
    pub body: Body,
    /// Whether the server takes another request on this connection.
    pub keep: bool,
    /// What came with the head of what follows it.
    pub rest: Bytes,
}

/// What was read of a head.
#[derive(Debug)]
pub(super) enum Read {
    Partial,
    /// One that is followed by another.
    Interim,
    Final(Message),
}

/// Takes a head off the beginning of `buffer`, once all of it is there. What follows an interim one
/// stays.
pub(super) fn take(buffer: &mut BytesMut, method: &Method) -> Result<Read, Malformed> {
    let bytes = buffer.split().freeze();
    let mut room = room::<MAX_LINES>();
    let Some(head) = Head::parse(&bytes, &mut room, Strictness::Strict)? else {
        *buffer = bytes.into();
        return Ok(Read::Partial);
    };
    let mut response = Response::new(());
    *response.status_mut() = head.status;
    *response.version_mut() = if head.is_modern { Version::HTTP_11 } else { Version::HTTP_10 };
    let headers = response.headers_mut();
    headers.reserve(head.fields.len() + ADDED);
    for field in head.fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Malformed::Field)?;
        let value = HeaderValue::from_maybe_shared(bytes.slice_ref(field.value));
        headers.append(name, value.map_err(|_| Malformed::Field)?);
    }
    let rest = bytes.slice(head.length..);
    if head.is_interim() {
        *buffer = rest.into();
        return Ok(Read::Interim);
    }
    let framing = head.framing(method.into())?;
    if head.status == StatusCode::NO_CONTENT {
        // RFC 9110 section 8.6: no length is to be stated, and HTTP/2 would wait for it.
        headers.remove(CONTENT_LENGTH);
    }
    if let Framing::Length(length) = framing
        && !is_plain(&head)
    {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let keep = head.is_modern && !head.connection_has("close");
    Ok(Read::Final(Message { response, body: framing.into(), keep, rest }))
}

/// Whether it says its length once.
fn is_plain(head: &Head) -> bool {
    let mut lengths = head.values("content-length");
    lengths.next().is_none_or(|first| !first.contains(&b',')) && lengths.next().is_none()
}

/// What keeps a head from saying in one way how its body is framed. Who believes another of two
/// lengths sees another end (RFC 9112 section 6.3); and a coding other than chunks, which was not
/// asked for, would be passed on without its name.
pub fn ambiguity(headers: &HeaderMap) -> Option<Malformed> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let coding = codings.next()?;
    if headers.contains_key(CONTENT_LENGTH) {
        return Some(Malformed::Contradiction);
    }
    let chunked = codings.next().is_none() && coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    (!chunked).then_some(Malformed::Coding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str, method: &Method) -> Result<Option<Message>, Malformed> {
        let mut buffer = BytesMut::from(text);
        loop {
            match take(&mut buffer, method)? {
                Read::Final(head) => return Ok(Some(head)),
                Read::Interim => {}
                Read::Partial => {
                    assert!(text.ends_with(std::str::from_utf8(&buffer).unwrap()));
                    return Ok(None);
                }
            }
        }
    }

    #[track_caller]
    fn check(text: &str, body: Body, keep: bool) {
        let head = read_all(text, &Method::GET).unwrap().unwrap();
        assert_eq!((&head.body, head.keep, &head.rest[..]), (&body, keep, &b"rest"[..]), "{text:?}");
    }

    #[test]
    fn what_follows_a_head() {
        check("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nrest", Body::Length(7), true);
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 7, 7\r\ncontent-length: 7\r\n\r\nrest",
            Body::Length(7),
            true,
        );
        check("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nrest", Body::Nothing, true);
        check("HTTP/1.1 204 No Content\r\ncontent-length: 7\r\n\r\nrest", Body::Nothing, true);
        check("HTTP/1.1 304 Not Modified\r\n\r\nrest", Body::Nothing, true);
        check(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\nrest",
            Body::Chunks(Box::default()),
            true,
        );
        check("HTTP/1.1 200\r\n\r\nrest", Body::UntilClose, true);
        check(
            "HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 7\r\n\r\nrest",
            Body::Length(7),
            false,
        );
        check(
            "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 7\r\n\r\nrest",
            Body::Length(7),
            false,
        );
        check(
            "HTTP/1.1 103 Early\r\na: b\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nrest",
            Body::Length(7),
            true,
        );
        let lengths = |text| {
            let head = read_all(text, &Method::GET).unwrap().unwrap();
            let lengths = head.response.headers().get_all(CONTENT_LENGTH).iter();
            lengths.map(|length| length.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(lengths("HTTP/1.1 200 OK\r\ncontent-length: 7, 7\r\ncontent-length: 7\r\n\r\n"), ["7"]);
        assert!(lengths("HTTP/1.1 204 No Content\r\ncontent-length: 7\r\n\r\n").is_empty());
        let head =
            read_all("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nrest", &Method::HEAD).unwrap().unwrap();
        assert_eq!(
            (head.body, &head.response.headers()["content-length"]),
            (Body::Nothing, &"7".parse().unwrap())
        );
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for (lines, why) in [
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3", Malformed::Length),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2, 3", Malformed::Length),
            ("HTTP/1.1 200 OK\r\ncontent-length: +2", Malformed::Length),
            ("HTTP/1.1 200 OK\r\ncontent-length:", Malformed::Length),
            ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999", Malformed::Length),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 9", Malformed::Contradiction),
            (
                "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\ntransfer-encoding: x",
                Malformed::Contradiction,
            ),
            ("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked", Malformed::Coding),
            ("HTTP/1.1 200 OK\na: b", Malformed::LineEnd),
            ("HTTP/1.1 200 OK\r\na: b\nc: d", Malformed::LineEnd),
            ("HTTP/1.1 200 OK\r\na: b\rc: d", Malformed::Syntax(httparse::Error::HeaderValue)),
            ("HTTP/1.1 099 OK", Malformed::Status),
            ("HTTP/1.1 200 OK\r\na: b\r\n c", Malformed::Syntax(httparse::Error::HeaderName)),
            ("HTTP/1.1 200 OK\r\ncontent-length : 2", Malformed::Syntax(httparse::Error::HeaderName)),
            ("SSH-2.0-OpenSSH", Malformed::Syntax(httparse::Error::Version)),
        ] {
            let found = read_all(&format!("{lines}\r\n\r\n"), &Method::GET);
            assert_eq!(found.err(), Some(why), "{lines:?}");
        }
    }
}
