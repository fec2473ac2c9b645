//! Reading the head of a request.

use std::mem::MaybeUninit;

use crate::inbox::HEAD_LIMIT;
use crate::status::Status;
use crate::upload::Framing;

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
    /// No request; the connection has no future either, since nobody knows where the next begins.
    Bad(Status),
}

/// Reads the head at the beginning of `input`.
pub(crate) fn read(input: &[u8]) -> Head<'_> {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut []);
    let length = match parsed.parse_with_uninit_headers(input, &mut headers) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if input.len() >= HEAD_LIMIT => return Head::Bad(Status::HeadTooLarge),
        Ok(httparse::Status::Partial) => return Head::Partial,
        Err(httparse::Error::TooManyHeaders) => return Head::Bad(Status::HeadTooLarge),
        Err(httparse::Error::Version) => return Head::Bad(Status::VersionNotSupported),
        Err(_) => return Head::Bad(Status::BadRequest),
    };
    let (Some(method), Some(target), Some(minor)) = (parsed.method, parsed.path, parsed.version) else {
        return Head::Bad(Status::BadRequest);
    };
    let version = if minor == 0 { Version::Http10 } else { Version::Http11 };
    let mut hosts = 0;
    let mut request = Request {
        method: match method {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            _ => Method::Other,
        },
        target: origin_form(target),
        version,
        keep_alive: version == Version::Http11,
        framing: Framing::Length(0),
        expects_continue: false,
    };
    let (mut lengths, mut encodings, mut chunked) = (0, 0, false);
    for header in parsed.headers.iter() {
        if header.name.eq_ignore_ascii_case("host") {
            hosts += 1;
        } else if header.name.eq_ignore_ascii_case("connection") {
            request.keep_alive = keep_alive(header.value, version);
        } else if header.name.eq_ignore_ascii_case("content-length") {
            let Some(length) = content_length(header.value) else { return Head::Bad(Status::BadRequest) };
            request.framing = Framing::Length(length);
            lengths += 1;
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            encodings += 1;
            chunked = header.value.trim_ascii().eq_ignore_ascii_case(b"chunked");
        } else if header.name.eq_ignore_ascii_case("expect") {
            // RFC 9110, section 10.1.1: HTTP/1.0 knows no such thing.
            request.expects_continue =
                version == Version::Http11 && header.value.trim_ascii().eq_ignore_ascii_case(b"100-continue");
        }
    }
    // RFC 9112, section 3.2: one Host and no more, except that HTTP/1.0 has none.
    if hosts > 1 || (hosts == 0 && version == Version::Http11) {
        return Head::Bad(Status::BadRequest);
    }
    // RFC 9112, sections 6.1 and 6.3: two ways to find the end of a body make two different ends.
    if lengths + encodings > 1 || (encodings > 0 && version == Version::Http10) {
        return Head::Bad(Status::BadRequest);
    }
    if encodings > 0 {
        if !chunked {
            return Head::Bad(Status::NotImplemented);
        }
        request.framing = Framing::Chunked;
    }
    Head::Whole(request, length)
}

/// Digits only: the standard library's parser would take a sign.
fn content_length(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    digits.iter().all(u8::is_ascii_digit).then_some(())?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// RFC 9112, section 9.3: `close` wins; HTTP/1.0 must ask for persistence.
fn keep_alive(value: &[u8], version: Version) -> bool {
    let has = |token: &str| {
        value.split(|&byte| byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    };
    match version {
        Version::Http10 => has("keep-alive") && !has("close"),
        Version::Http11 => !has("close"),
    }
}

/// Strips `http://authority` from a target in absolute form, which RFC 9112, section 3.2.2, has
/// every server accept.
fn origin_form(target: &str) -> &str {
    let Some((scheme, rest)) = target.split_once("://") else { return target };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return target;
    }
    rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(input: &str) -> Request<'_> {
        match read(input.as_bytes()) {
            Head::Whole(request, length) => {
                assert_eq!(length, input.len());
                request
            }
            other => panic!("{input:?}: {other:?}"),
        }
    }

    #[test]
    fn versions_differ_in_what_silence_means() {
        assert!(whole("GET / HTTP/1.1\r\nHost: a\r\n\r\n").keep_alive);
        assert!(!whole("GET / HTTP/1.0\r\n\r\n").keep_alive);
        assert!(whole("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
        assert!(!whole("GET / HTTP/1.1\r\nHost: a\r\nconnection: x, CLOSE\r\n\r\n").keep_alive);
    }

    #[test]
    fn absolute_targets_are_cut_to_their_path() {
        let target = |target| whole(&format!("GET {target} HTTP/1.0\r\n\r\n")).target.to_owned();
        assert_eq!(target("http://a:80/bytes/7?x=1"), "/bytes/7?x=1");
        assert_eq!(target("http://a"), "/");
        assert_eq!(target("/burn?url=http://a/b"), "/burn?url=http://a/b");
    }

    #[test]
    fn the_end_of_a_body_is_found_in_one_way() {
        let framing =
            |header: &str| match read(format!("POST / HTTP/1.1\r\nHost: a\r\n{header}\r\n").as_bytes()) {
                Head::Whole(request, _) => Ok(request.framing),
                Head::Bad(status) => Err(status),
                Head::Partial => panic!("{header:?} is a part"),
            };
        for (header, expected) in [
            ("", Ok(Framing::Length(0))),
            ("Content-Length: 3\r\n", Ok(Framing::Length(3))),
            ("transfer-encoding: Chunked\r\n", Ok(Framing::Chunked)),
            ("Content-Length: +3\r\n", Err(Status::BadRequest)),
            ("Content-Length: 99999999999999999999\r\n", Err(Status::BadRequest)),
            ("Content-Length:\r\n", Err(Status::BadRequest)),
            ("Content-Length: 3\r\nContent-Length: 4\r\n", Err(Status::BadRequest)),
            ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", Err(Status::BadRequest)),
            ("Transfer-Encoding: gzip, chunked\r\n", Err(Status::NotImplemented)),
        ] {
            assert_eq!(framing(header), expected, "{header:?}");
        }
        let old = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(read(old.as_bytes()), Head::Bad(Status::BadRequest));
    }

    #[test]
    fn only_new_clients_expect_to_be_told_to_go_on() {
        let request = |version| format!("POST / HTTP/{version}\r\nHost: a\r\nExpect: 100-Continue\r\n\r\n");
        assert!(whole(&request("1.1")).expects_continue);
        assert!(!whole(&request("1.0")).expects_continue);
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_right_status() {
        for (input, status) in [
            (&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..], Status::BadRequest),
            (b"GET / HTTP/1.1\r\n\r\n", Status::BadRequest),
            (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Status::BadRequest),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Status::VersionNotSupported),
            (&[b'a'; HEAD_LIMIT], Status::HeadTooLarge),
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
