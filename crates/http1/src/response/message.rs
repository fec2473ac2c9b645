//! [`Message`]: a response as `http`'s types have it, and what follows its head.

use std::mem::MaybeUninit;

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, Version};

use super::body::Body;
use super::head::{Framing, Head, Strictness};
use super::limits::Limits;
use super::malformed::Malformed;
use crate::fields::room;
use crate::headers::hop_by_hop::is_hop_by_hop;

/// Header lines for which there is room without allocation.
const USUAL_LINES: usize = 128;
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
    /// The reason phrase, where it is not the one that belongs to the status (RFC 9112 section 4).
    pub reason: Option<Bytes>,
    /// What came with the head of what follows it.
    pub rest: Bytes,
}

/// What was read of a head.
#[derive(Debug)]
pub(super) enum Read {
    Partial,
    /// One that is followed by another.
    Interim(Response<()>),
    Final(Message),
}

/// Takes a head off the beginning of `buffer`, once all of it is there. What follows an interim one
/// stays.
pub(super) fn take(buffer: &mut BytesMut, method: &Method, limits: &Limits) -> Result<Read, Malformed> {
    let bytes = buffer.split().freeze();
    let mut usual = room::<USUAL_LINES>();
    let mut room = &mut usual[..limits.fields.min(USUAL_LINES)];
    let mut parsed = Head::parse(&bytes, room, Strictness::Strict);
    let mut more;
    if matches!(parsed, Err(Malformed::Fields)) && limits.fields > USUAL_LINES {
        more = vec![MaybeUninit::uninit(); limits.fields];
        room = &mut more;
        parsed = Head::parse(&bytes, room, Strictness::Strict);
    }
    let Some(head) = parsed? else {
        *buffer = bytes.into();
        return Ok(Read::Partial);
    };
    if head.length > limits.head {
        return Err(Malformed::Size);
    }
    let mut response = Response::new(());
    *response.status_mut() = head.status;
    *response.version_mut() = if head.is_modern { Version::HTTP_11 } else { Version::HTTP_10 };
    let headers = response.headers_mut();
    headers.reserve(head.fields.len() + ADDED);
    // What is for this hop stands last: a map fills the place of what is taken out with its last entry, and the
    // others keep their order.
    let mut for_this_hop = 0;
    for field in head.fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Malformed::Field)?;
        if is_hop_by_hop(&name) {
            for_this_hop += 1;
        } else {
            headers.append(name, value_of(&bytes, field)?);
        }
    }
    if for_this_hop > 0 {
        for field in head.fields {
            let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Malformed::Field)?;
            if is_hop_by_hop(&name) {
                headers.append(name, value_of(&bytes, field)?);
            }
        }
    }
    let rest = bytes.slice(head.length..);
    if head.is_interim() {
        *buffer = rest.into();
        return Ok(Read::Interim(response));
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
    let keep = head.is_modern && (for_this_hop == 0 || !head.connection_has("close"));
    let is_own = head.status.canonical_reason().map(str::as_bytes) != Some(head.reason);
    let reason = is_own.then(|| bytes.slice_ref(head.reason));
    Ok(Read::Final(Message { response, body: framing.into(), keep, reason, rest }))
}

fn value_of(bytes: &Bytes, field: &httparse::Header) -> Result<HeaderValue, Malformed> {
    HeaderValue::from_maybe_shared(bytes.slice_ref(field.value)).map_err(|_| Malformed::Field)
}

/// Whether it says its length once.
fn is_plain(head: &Head) -> bool {
    let mut lengths = head.values("content-length");
    lengths.next().is_none_or(|first| !first.contains(&b',')) && lengths.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str, method: &Method) -> Result<Option<Message>, Malformed> {
        let mut buffer = BytesMut::from(text);
        loop {
            match take(&mut buffer, method, &Limits::default())? {
                Read::Final(head) => return Ok(Some(head)),
                Read::Interim(_) => {}
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
    fn fields_keep_their_order_without_those_of_this_hop() {
        let head = "HTTP/1.1 200 OK\r\nServer: a\r\nConnection: keep-alive\r\nX-B: 1\r\nKeep-Alive: timeout=5\r\nX-A: 2\r\n\
                    Transfer-Encoding: chunked\r\nX-B: 3\r\nETag: 4\r\n\r\n";
        let mut headers = read_all(head, &Method::GET).unwrap().unwrap().response.headers().clone();
        crate::headers::hop_by_hop::response(&mut headers);
        let names: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(names, [("server", "a"), ("x-b", "1"), ("x-b", "3"), ("x-a", "2"), ("etag", "4")]);
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
    fn white_space_before_a_colon_goes_no_further() {
        let head = read_all("HTTP/1.1 200 OK\r\nX-A \t: b\r\ncontent-length : 7\r\n\r\n", &Method::GET);
        let Message { response, body, .. } = head.unwrap().unwrap();
        assert_eq!((&response.headers()["x-a"], body), (&"b".parse().unwrap(), Body::Length(7)));
    }

    #[test]
    fn a_reason_of_the_servers_own_is_kept() {
        for (line, expected) in [
            ("HTTP/1.1 200 OK", None),
            ("HTTP/1.1 404 Not Found", None),
            ("HTTP/1.1 200 All is well", Some("All is well")),
            ("HTTP/1.1 200 ", Some("")),
            ("HTTP/1.1 200", Some("")),
            ("HTTP/1.1 299 Grün", Some("Grün")),
            ("HTTP/1.1 999 Denied", Some("Denied")),
        ] {
            let head = read_all(&format!("{line}\r\n\r\n"), &Method::GET).unwrap().unwrap();
            assert_eq!(head.reason.as_deref(), expected.map(str::as_bytes), "{line}");
        }
    }

    #[test]
    fn a_head_is_as_large_as_the_limits_say() {
        let limits = Limits { head: 100_000, fields: 300 };
        let read = |fields: usize, length: usize| {
            let lines: String = (0..fields).map(|n| format!("x-{n}: {}\r\n", "x".repeat(length))).collect();
            let mut buffer = BytesMut::from(&*format!("HTTP/1.1 200 OK\r\n{lines}\r\n"));
            match take(&mut buffer, &Method::GET, &limits) {
                Ok(Read::Final(message)) => Ok(message.response.headers().len()),
                other => Err(other.err()),
            }
        };
        assert_eq!((read(300, 1), read(60, 1000), read(1, 90_000)), (Ok(300), Ok(60), Ok(1)));
        assert_eq!(read(301, 1), Err(Some(Malformed::Fields)));
        assert_eq!(read(60, 2000), Err(Some(Malformed::Size)));
    }

    #[test]
    fn what_is_said_of_a_body_that_does_not_come_is_kept() {
        let lines = "content-length: 9\r\ntransfer-encoding: chunked\r\n\r\n";
        for (line, method) in [("200 OK", Method::HEAD), ("304 Not Modified", Method::GET)] {
            let head = read_all(&format!("HTTP/1.1 {line}\r\n{lines}"), &method).unwrap().unwrap();
            assert_eq!((head.body, head.response.headers().len()), (Body::Nothing, 2), "{line}");
        }
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
            ("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked", Malformed::Coding),
            ("HTTP/1.1 200 OK\na: b", Malformed::LineEnd),
            ("HTTP/1.1 200 OK\r\na: b\nc: d", Malformed::LineEnd),
            ("HTTP/1.1 200 OK\r\na: b\rc: d", Malformed::Syntax(httparse::Error::HeaderValue)),
            ("HTTP/1.1 099 OK", Malformed::Status),
            ("HTTP/1.1 200 OK\r\na: b\r\n c", Malformed::Syntax(httparse::Error::HeaderName)),
            ("SSH-2.0-OpenSSH", Malformed::Syntax(httparse::Error::Version)),
        ] {
            let found = read_all(&format!("{lines}\r\n\r\n"), &Method::GET);
            assert_eq!(found.err(), Some(why), "{lines:?}");
        }
    }
}
