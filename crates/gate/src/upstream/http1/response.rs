//! The head of a response: what it says, and what follows it (RFC 9112 sections 4 to 6).

use std::mem::MaybeUninit;

use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version};
use httparse::{ParserConfig, Status};
use memchr::memchr_iter;

use super::chunks::{Chunks, Piece};

/// What a head may have. A server that says more is broken.
pub(super) const LARGEST: usize = 256 * 1024;
const FIELDS: usize = 100;
/// Interim responses before the one that is asked for.
pub(super) const MOST_INTERIM: usize = 16;

/// What is wrong with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("it is not HTTP: {0}")]
    Syntax(httparse::Error),
    #[error("its status is none")]
    Status,
    #[error("a header line is not HTTP")]
    Field,
    #[error("a line of its head does not end with CR LF")]
    LineEnd,
    #[error("its head does not end")]
    Size,
    #[error("there is no end of interim responses")]
    Interim,
    #[error("its length is no number, or several")]
    Length,
    #[error("it has a length beside its transfer coding")]
    Contradiction,
    #[error("it has a transfer coding that nobody has asked for")]
    Coding,
    #[error("its body is not framed as it says")]
    Chunk,
    #[error("its trailers are not HTTP, or do not end")]
    Trailers,
}

/// What was read of a head.
pub(super) enum Read {
    Partial,
    /// One that is followed by another.
    Interim,
    Final(Head),
}

/// The head of a response.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) response: Response<()>,
    pub(super) framing: Framing,
    /// Whether the server takes another request on this connection.
    pub(super) keep: bool,
    /// What came with it of what follows.
    pub(super) rest: Bytes,
}

/// What is still to come of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Nothing,
    Length(u64),
    Chunks(Box<Chunks>),
    UntilClose,
}

impl Framing {
    /// The next piece of what is here.
    pub(super) fn next(&mut self, here: &mut Bytes) -> Result<Piece, Malformed> {
        match self {
            Self::Nothing => Ok(Piece::End),
            _ if here.is_empty() => Ok(Piece::More),
            Self::UntilClose => Ok(Piece::Data(std::mem::take(here))),
            Self::Length(left) => {
                let data = here.split_to(here.len().min(usize::try_from(*left).unwrap_or(usize::MAX)));
                *left -= data.len() as u64;
                if *left == 0 {
                    *self = Self::Nothing;
                }
                Ok(Piece::Data(data))
            }
            Self::Chunks(chunks) => {
                let piece = chunks.next(here)?;
                if chunks.is_over() {
                    *self = Self::Nothing;
                }
                Ok(piece)
            }
        }
    }

    /// Bytes that are left, if that is known.
    pub(super) fn left(&self) -> Option<u64> {
        match self {
            Self::Nothing => Some(0),
            Self::Length(left) => Some(*left),
            Self::Chunks(_) | Self::UntilClose => None,
        }
    }
}

/// Whether the end of a head may be among the bytes; those before `looked_at` have been looked at
/// before. A server that sends byte by byte does not make anybody read all again for each.
pub(super) fn is_complete(bytes: &[u8], looked_at: usize) -> bool {
    let fresh = &bytes[looked_at.saturating_sub(3)..];
    looked_at == 0 && !fresh.is_empty() || fresh.windows(2).any(|pair| pair == b"\n\n" || pair == b"\n\r")
}

/// Takes a head off the beginning of `buffer`, once all of it is there.
pub(super) fn read(buffer: &mut BytesMut, method: &Method) -> Result<Read, Malformed> {
    let bytes = buffer.split().freeze();
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS];
    let mut parsed = httparse::Response::new(&mut []);
    let config = ParserConfig::default();
    let length = match config.parse_response_with_uninit_headers(&mut parsed, &bytes, &mut fields) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => {
            *buffer = bytes.into();
            return Ok(Read::Partial);
        }
        Err(why) => return Err(Malformed::Syntax(why)),
    };
    if !has_whole_line_ends(&bytes[..length]) {
        return Err(Malformed::LineEnd);
    }
    let status = parsed.code.and_then(|code| StatusCode::from_u16(code).ok()).ok_or(Malformed::Status)?;
    let modern = parsed.version == Some(1);
    let mut response = Response::new(());
    *response.status_mut() = status;
    *response.version_mut() = if modern { Version::HTTP_11 } else { Version::HTTP_10 };
    let headers = response.headers_mut();
    headers.reserve(parsed.headers.len() + OURS);
    let (mut is_coded, mut keep) = (false, modern);
    for field in parsed.headers {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Malformed::Field)?;
        let value = HeaderValue::from_maybe_shared(bytes.slice_ref(field.value));
        is_coded |= name == TRANSFER_ENCODING;
        keep &= name != CONNECTION || !closes(field.value);
        headers.append(name, value.map_err(|_| Malformed::Field)?);
    }
    let rest = bytes.slice(length..);
    if status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS {
        *buffer = rest.into();
        return Ok(Read::Interim);
    }
    let framing = framing(response.headers_mut(), is_coded, status, method, modern)?;
    Ok(Read::Final(Head { response, framing, keep, rest }))
}

/// Headers that the gate adds.
const OURS: usize = 2;

/// Whether each line ends with CR LF. Where LF alone ends one too, what somebody got into a header
/// of the server's begins another (RFC 9112 section 2.2 leaves it to the recipient).
pub(super) fn has_whole_line_ends(lines: &[u8]) -> bool {
    memchr_iter(b'\n', lines).all(|at| at > 0 && lines[at - 1] == b'\r')
}

/// What keeps a head from saying in one way how its body is framed. Whoever believes another of two
/// lengths sees another end (RFC 9112 section 6.3); and a coding other than chunks, for which nobody
/// has asked, would be passed on without its name.
pub(crate) fn ambiguity(headers: &HeaderMap) -> Option<Malformed> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let coding = codings.next()?;
    if headers.contains_key(CONTENT_LENGTH) {
        return Some(Malformed::Contradiction);
    }
    let chunked = codings.next().is_none() && coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    (!chunked).then_some(Malformed::Coding)
}

/// What follows a head (RFC 9112 section 6.3).
fn framing(
    headers: &mut HeaderMap,
    is_coded: bool,
    status: StatusCode,
    method: &Method,
    modern: bool,
) -> Result<Framing, Malformed> {
    if is_coded && let Some(why) = ambiguity(headers) {
        return Err(why);
    }
    let none =
        matches!(status, StatusCode::SWITCHING_PROTOCOLS | StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if status == StatusCode::NO_CONTENT {
        // RFC 9110 section 8.6: there is none to state, and HTTP/2 would wait for it.
        headers.remove(CONTENT_LENGTH);
    }
    if none || *method == Method::HEAD {
        return Ok(Framing::Nothing);
    }
    if is_coded {
        return if modern { Ok(Framing::Chunks(Box::default())) } else { Err(Malformed::Coding) };
    }
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    match lengths.next() {
        None => Ok(Framing::UntilClose),
        Some(first) => {
            let number = length(first.as_bytes()).ok_or(Malformed::Length)?;
            let mut is_plain = !first.as_bytes().contains(&b',');
            for other in lengths {
                is_plain = false;
                if length(other.as_bytes()) != Some(number) {
                    return Err(Malformed::Length);
                }
            }
            if !is_plain {
                headers.insert(CONTENT_LENGTH, HeaderValue::from(number));
            }
            Ok(if number == 0 { Framing::Nothing } else { Framing::Length(number) })
        }
    }
}

/// A number, or the same one several times.
fn length(value: &[u8]) -> Option<u64> {
    let mut all = value.split(|byte| *byte == b',').map(|digits| {
        let digits = std::str::from_utf8(digits.trim_ascii()).ok()?;
        // A sign would be one to `parse`.
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    });
    let first: u64 = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

/// Whether a line of `Connection` says that this response is the last.
fn closes(line: &[u8]) -> bool {
    line.split(|byte| *byte == b',').any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str, method: &Method) -> Result<Option<Head>, Malformed> {
        let mut buffer = BytesMut::from(text);
        loop {
            match read(&mut buffer, method)? {
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
    fn check(text: &str, framing: Framing, keep: bool) {
        let head = read_all(text, &Method::GET).unwrap().unwrap();
        assert_eq!((&head.framing, head.keep, &head.rest[..]), (&framing, keep, &b"rest"[..]), "{text:?}");
    }

    #[test]
    fn what_follows_a_head() {
        check("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nrest", Framing::Length(7), true);
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 7, 7\r\ncontent-length: 7\r\n\r\nrest",
            Framing::Length(7),
            true,
        );
        check("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nrest", Framing::Nothing, true);
        check("HTTP/1.1 204 No Content\r\ncontent-length: 7\r\n\r\nrest", Framing::Nothing, true);
        check("HTTP/1.1 304 Not Modified\r\n\r\nrest", Framing::Nothing, true);
        check(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\nrest",
            Framing::Chunks(Box::default()),
            true,
        );
        check("HTTP/1.1 200\r\n\r\nrest", Framing::UntilClose, true);
        check(
            "HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 7\r\n\r\nrest",
            Framing::Length(7),
            false,
        );
        check(
            "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 7\r\n\r\nrest",
            Framing::Length(7),
            false,
        );
        check(
            "HTTP/1.1 103 Early\r\na: b\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nrest",
            Framing::Length(7),
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
            (head.framing, &head.response.headers()["content-length"]),
            (Framing::Nothing, &"7".parse().unwrap())
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

    #[test]
    fn a_head_in_pieces_waits_for_its_end() {
        let text = "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n";
        for cut in 1..text.len() {
            assert!(read_all(&text[..cut], &Method::GET).unwrap().is_none(), "{cut}");
            for looked_at in 1..=cut {
                assert!(is_complete(text.as_bytes(), looked_at), "{looked_at}");
            }
        }
        assert!(!is_complete(b"", 0) && !is_complete(b"HTTP/1.1 200 OK\r\na: b", 5));
    }
}
