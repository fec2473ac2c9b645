//! Reading the head of a request.

use http1::fields;
use http1::request::{self, Framing};

use crate::limits::MAX_HEAD;
use crate::status::Status;

/// More header lines than any browser sends.
const MAX_HEADERS: usize = 64;

/// What the server wants to know of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    /// The path with its query, without scheme and authority.
    pub(crate) target: &'a str,
    pub(crate) version: Version,
    /// Whether the client asks for the connection to stay open, or agrees by saying nothing.
    pub(crate) keep_alive: bool,
    /// How the end of the body is found that follows the head.
    pub(crate) framing: Framing,
    /// Whether the client wants to be told to go on before it sends the body.
    pub(crate) expects_continue: bool,
}

/// The methods that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    Other,
}

/// The protocol versions that are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Http10,
    Http11,
}

/// What was found at the beginning of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head<'a> {
    /// The beginning of a request at best.
    Partial,
    /// A request and the length of its head in bytes.
    Whole(Request<'a>, usize),
    /// Not a request; the connection has no future either, since it is not known where the next one begins.
    Bad(Status),
}

/// Reads the head at the beginning of `input`.
pub(crate) fn read(input: &[u8]) -> Head<'_> {
    let mut room = fields::room::<MAX_HEADERS>();
    let head = match request::Head::parse(input, &mut room) {
        Ok(Some(head)) => head,
        Ok(None) if input.len() >= MAX_HEAD => return Head::Bad(Status::HeadTooLarge),
        Ok(None) => return Head::Partial,
        Err(breach) => return Head::Bad(breach.into()),
    };
    let meaning = match head.meaning() {
        Ok(meaning) => meaning,
        Err(breach) => return Head::Bad(breach.into()),
    };
    let request = Request {
        method: match head.method {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            _ => Method::Other,
        },
        target: head.path(),
        version: if head.is_modern { Version::Http11 } else { Version::Http10 },
        keep_alive: meaning.keep_alive,
        framing: meaning.framing,
        expects_continue: meaning.expects_continue,
    };
    Head::Whole(request, head.length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_a_request_is_refused_with_the_right_status() {
        for (input, status) in [
            (&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..], Status::BadRequest),
            (b"GET / HTTP/1.1\r\n\r\n", Status::BadRequest),
            (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Status::BadRequest),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Status::VersionNotSupported),
            (&[b'a'; MAX_HEAD], Status::HeadTooLarge),
            (
                b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                Status::NotImplemented,
            ),
            (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\n", Status::BadRequest),
        ] {
            assert_eq!(read(input), Head::Bad(status), "{}", input.escape_ascii());
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(read(many.as_bytes()), Head::Bad(Status::HeadTooLarge));
    }

    proptest! {
        #[test]
        fn a_part_of_a_request_is_never_taken_for_a_whole(cut in 0_usize..60) {
            let input = b"GET /bytes/20 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
            prop_assume!(cut < input.len());
            prop_assert_eq!(read(&input[..cut]), Head::Partial);
        }

        #[test]
        fn no_input_is_too_strange(input in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&input);
        }
    }
}
