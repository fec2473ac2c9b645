//! [`Head`]: what a request's head says, read where its bytes are (RFC 9112 sections 3 to 6).

use std::mem::MaybeUninit;

use httparse::Status;

use super::breach::Breach;
use super::framing::Framing;
use crate::fields::{Field, lists, number};

/// A whole head. Nothing in it was copied.
///
/// It forgives what RFC 9112 lets a server forgive, such as lines that end with LF alone. Where
/// requests are passed on to another server, [`Filter`](super::Filter) has to look at them before.
#[derive(Debug)]
pub struct Head<'h, 'b> {
    /// Bytes that it takes, the empty line included.
    pub length: usize,
    /// Its method.
    pub method: &'b str,
    /// Its target, in any of the forms that there are.
    pub target: &'b str,
    /// Whether it is of HTTP/1.1, and not of HTTP/1.0.
    pub is_modern: bool,
    /// The header lines, as they came.
    pub fields: &'h [Field<'b>],
}

/// What the lines of a head mean for the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// What follows the head.
    pub framing: Framing,
    /// Whether the client wants to send another request on this connection, or agrees by saying
    /// nothing.
    pub keep_alive: bool,
    /// Whether the client waits to be told to go on before it sends the body.
    pub expects_continue: bool,
}

impl<'h, 'b> Head<'h, 'b> {
    /// The head that `bytes` begin with, if all of it is there.
    ///
    /// # Errors
    /// When they do not begin with the head of a request, or with one of more lines than there is
    /// `room` for.
    #[inline]
    pub fn parse(bytes: &'b [u8], room: &'h mut [MaybeUninit<Field<'b>>]) -> Result<Option<Self>, Breach> {
        let mut parsed = httparse::Request::new(&mut []);
        let length = match parsed.parse_with_uninit_headers(bytes, room) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err(Breach::Fields),
            Err(httparse::Error::Version) => return Err(Breach::Version),
            Err(httparse::Error::NewLine) => return Err(Breach::LineEnd),
            Err(httparse::Error::HeaderName | httparse::Error::HeaderValue) => return Err(Breach::Field),
            Err(_) => return Err(Breach::RequestLine),
        };
        let (Some(method), Some(target), Some(minor)) = (parsed.method, parsed.path, parsed.version) else {
            return Err(Breach::RequestLine);
        };
        Ok(Some(Self { length, method, target, is_modern: minor > 0, fields: parsed.headers }))
    }

    /// What its lines mean for the connection.
    ///
    /// # Errors
    /// When it has not the one Host that a request has (RFC 9112 section 3.2), or says in no way or in
    /// several where its body ends (sections 6.1 and 6.3).
    #[inline]
    pub fn meaning(&self) -> Result<Meaning, Breach> {
        let (mut hosts, mut length, mut lengths) = (0, 0, 0);
        let (mut codings, mut is_chunked) = (0, false);
        let (mut close, mut keep_alive, mut expects_continue) = (false, false, false);
        for Field { name, value } in self.fields {
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            // Most names have another length than all of these.
            match name.len() {
                4 if is("host") => hosts += 1,
                6 if is("expect") => {
                    // RFC 9110 section 10.1.1: HTTP/1.0 knows no such thing.
                    expects_continue =
                        self.is_modern && value.trim_ascii().eq_ignore_ascii_case(b"100-continue");
                }
                10 if is("connection") => {
                    close |= lists(value, "close");
                    keep_alive |= lists(value, "keep-alive");
                }
                14 if is("content-length") => {
                    length = number(value).ok_or(Breach::Length)?;
                    lengths += 1;
                }
                17 if is("transfer-encoding") => {
                    codings += 1;
                    is_chunked = value.trim_ascii().eq_ignore_ascii_case(b"chunked");
                }
                _ => {}
            }
        }
        if hosts > 1 || (hosts == 0 && self.is_modern) {
            return Err(Breach::Host);
        }
        let framing = match (lengths, codings) {
            (0, 0) => Framing::Nothing,
            (1, 0) => Framing::length(length),
            (0, 1) if !self.is_modern => return Err(Breach::Coding),
            (0, 1) if !is_chunked => return Err(Breach::UnknownCoding),
            (0, 1) => Framing::Chunks,
            _ => return Err(Breach::Length),
        };
        // RFC 9112 section 9.3: `close` wins; HTTP/1.0 must ask for persistence.
        let keep_alive = !close && (self.is_modern || keep_alive);
        Ok(Meaning { framing, keep_alive, expects_continue })
    }

    /// The path with its query: the target without the `http://authority` of the absolute form, which
    /// every server has to accept (RFC 9112 section 3.2.2).
    pub fn path(&self) -> &'b str {
        let Some((scheme, rest)) = self.target.split_once("://") else { return self.target };
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return self.target;
        }
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::room;

    fn read<T>(text: &str, read: impl FnOnce(&Head, Meaning) -> T) -> Result<T, Breach> {
        let mut room = room::<8>();
        let head = Head::parse(text.as_bytes(), &mut room)?.unwrap();
        assert_eq!(head.length, text.len());
        head.meaning().map(|meaning| read(&head, meaning))
    }

    #[track_caller]
    fn meaning(text: &str) -> Meaning {
        read(text, |_, meaning| meaning).unwrap()
    }

    #[test]
    fn versions_differ_in_what_silence_means() {
        assert!(meaning("GET / HTTP/1.1\r\nHost: a\r\n\r\n").keep_alive);
        assert!(!meaning("GET / HTTP/1.0\r\n\r\n").keep_alive);
        assert!(meaning("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
        assert!(!meaning("GET / HTTP/1.1\r\nHost: a\r\nconnection: x, CLOSE\r\n\r\n").keep_alive);
    }

    #[test]
    fn absolute_targets_are_cut_to_their_path() {
        let target = |target| {
            read(&format!("GET {target} HTTP/1.0\r\n\r\n"), |head, _| head.path().to_owned()).unwrap()
        };
        assert_eq!(target("http://a:80/bytes/7?x=1"), "/bytes/7?x=1");
        assert_eq!(target("http://a"), "/");
        assert_eq!(target("/burn?url=http://a/b"), "/burn?url=http://a/b");
    }

    #[test]
    fn the_end_of_a_body_is_found_in_one_way() {
        let framing = |header: &str| {
            read(&format!("POST / HTTP/1.1\r\nHost: a\r\n{header}\r\n"), |_, meaning| meaning.framing)
        };
        for (header, expected) in [
            ("", Ok(Framing::Nothing)),
            ("Content-Length: 0\r\n", Ok(Framing::Nothing)),
            ("Content-Length: 3\r\n", Ok(Framing::Length(3))),
            ("transfer-encoding: Chunked\r\n", Ok(Framing::Chunks)),
            ("Content-Length: +3\r\n", Err(Breach::Length)),
            ("Content-Length: 99999999999999999999\r\n", Err(Breach::Length)),
            ("Content-Length:\r\n", Err(Breach::Length)),
            ("Content-Length: 3\r\nContent-Length: 4\r\n", Err(Breach::Length)),
            ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", Err(Breach::Length)),
            ("Transfer-Encoding: gzip, chunked\r\n", Err(Breach::UnknownCoding)),
        ] {
            assert_eq!(framing(header), expected, "{header:?}");
        }
        let old = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(read(old, |_, meaning| meaning), Err(Breach::Coding));
    }

    #[test]
    fn only_new_clients_expect_to_be_told_to_go_on() {
        let request = |version| format!("POST / HTTP/{version}\r\nHost: a\r\nExpect: 100-Continue\r\n\r\n");
        assert!(meaning(&request("1.1")).expects_continue);
        assert!(!meaning(&request("1.0")).expects_continue);
    }
}
