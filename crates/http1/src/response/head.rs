//! [`Head`]: what a response's head says, read where its bytes are (RFC 9112 sections 4 to 6).

use std::mem::MaybeUninit;

use http::{Method, StatusCode};
use httparse::{ParserConfig, Status};
use memchr::memchr_iter;

use super::malformed::Malformed;
use crate::fields::{self, Field, lists, number};

/// What a head that can be read in several ways is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// An error: a proxy that passes a response on must not leave the choice to the client.
    Strict,
    /// Read as RFC 9112 allows a client to: lines may end with LF alone (section 2.2) and be folded (section 5.2),
    /// chunks win over a length (section 6.3) and may have other codings within, and HTTP/1.0 may have them.
    Lenient,
}

/// What a response answers, as far as that decides whether it has a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// HEAD: there is no body, whatever the head says.
    Head,
    /// Any other method.
    Other,
}

impl From<&Method> for Asked {
    fn from(method: &Method) -> Self {
        if *method == Method::HEAD { Self::Head } else { Self::Other }
    }
}

/// A whole head. Nothing in it was copied.
#[derive(Debug)]
pub struct Head<'h, 'b> {
    /// Bytes that it takes, the empty line included.
    pub length: usize,
    /// Its status, which may be that of an interim response.
    pub status: StatusCode,
    /// What its status line says in words; empty where it says nothing.
    pub reason: &'b [u8],
    /// Whether it is of HTTP/1.1, and not of HTTP/1.0.
    pub is_modern: bool,
    /// The header lines, as they came.
    pub fields: &'h [Field<'b>],
    strictness: Strictness,
}

/// What follows a head (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body, whatever the head says.
    Nothing,
    /// A body of so many bytes.
    Length(u64),
    /// A body in chunks.
    Chunks,
    /// A body that ends with the connection.
    UntilClose,
}

impl<'h, 'b> Head<'h, 'b> {
    /// The head that `bytes` begin with, if all of it is there, and has no more lines than there is
    /// `room` for.
    ///
    /// # Errors
    /// When they do not begin with the head of a response.
    #[inline]
    pub fn parse(
        bytes: &'b [u8],
        room: &'h mut [MaybeUninit<Field<'b>>],
        strictness: Strictness,
    ) -> Result<Option<Self>, Malformed> {
        let mut parsed = httparse::Response::new(&mut []);
        let mut config = ParserConfig::default();
        // RFC 9112 section 5.1: a proxy removes them.
        config.allow_spaces_after_header_name_in_responses(true);
        // Section 5.2: it is replaced by spaces where it is passed on.
        config.allow_obsolete_multiline_headers_in_responses(strictness == Strictness::Lenient);
        let length = match config.parse_response_with_uninit_headers(&mut parsed, bytes, room) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err(Malformed::Fields),
            Err(why) => return Err(Malformed::Syntax(why)),
        };
        if strictness == Strictness::Strict && !has_whole_line_ends(&bytes[..length]) {
            return Err(Malformed::LineEnd);
        }
        let status = parsed.code.and_then(|code| StatusCode::from_u16(code).ok()).ok_or(Malformed::Status)?;
        let is_modern = parsed.version == Some(1);
        let reason = match parsed.reason.unwrap_or_default() {
            // The parser gives none that is not ASCII.
            "" => raw_reason(bytes),
            reason => reason.as_bytes(),
        };
        Ok(Some(Self { length, status, reason, is_modern, fields: parsed.headers, strictness }))
    }

    /// Whether another response follows (RFC 9110 section 15.2). After a change of protocol, none
    /// does.
    pub fn is_interim(&self) -> bool {
        self.status.is_informational() && self.status != StatusCode::SWITCHING_PROTOCOLS
    }

    /// The values of the lines called `name`, which is in lower case.
    #[inline]
    pub fn values<'n>(&self, name: &'n str) -> impl Iterator<Item = &'b [u8]> + use<'n, 'h, 'b> {
        fields::values(self.fields, name)
    }

    /// Whether a line of `Connection` has that option, which is in lower case.
    #[inline]
    pub fn connection_has(&self, option: &str) -> bool {
        self.values("connection").any(|line| lists(line, option))
    }

    /// What follows the head of an answer to what was asked.
    ///
    /// # Errors
    /// When that cannot be told, or not in one way.
    #[inline]
    pub fn framing(&self, asked: Asked) -> Result<Framing, Malformed> {
        let is_strict = self.strictness == Strictness::Strict;
        let has_none = matches!(
            self.status,
            StatusCode::SWITCHING_PROTOCOLS | StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
        );
        if has_none || asked == Asked::Head {
            // Nothing follows, so what is said of it misleads no client.
            return Ok(Framing::Nothing);
        }
        let mut codings = self.values("transfer-encoding");
        if let Some(coding) = codings.next() {
            if !is_strict {
                // What comes last decides, whatever is within.
                let last = codings.last().unwrap_or(coding);
                let last = last.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
                let is_chunked = last.eq_ignore_ascii_case(b"chunked");
                return Ok(if is_chunked { Framing::Chunks } else { Framing::UntilClose });
            }
            if self.values("content-length").next().is_some() {
                return Err(Malformed::Contradiction);
            }
            if codings.next().is_some() || !coding.eq_ignore_ascii_case(b"chunked") || !self.is_modern {
                return Err(Malformed::Coding);
            }
            return Ok(Framing::Chunks);
        }
        let mut lengths = self.values("content-length").map(length);
        let Some(first) = lengths.next() else { return Ok(Framing::UntilClose) };
        let is_one = first.is_some() && lengths.all(|other| other == first);
        first.filter(|_| is_one).map(Framing::Length).ok_or(Malformed::Length)
    }
}

/// The reason phrase of the status line that `bytes` begin with (RFC 9112 section 4).
fn raw_reason(bytes: &[u8]) -> &[u8] {
    let line = bytes.trim_ascii_start();
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.get("HTTP/1.1 200 ".len()..).unwrap_or_default()
}

/// Whether each line ends with CR LF. Where LF alone ends one too, what was smuggled into a header of
/// the server's begins another (RFC 9112 section 2.2 leaves it to the recipient).
fn has_whole_line_ends(lines: &[u8]) -> bool {
    memchr_iter(b'\n', lines).all(|at| at > 0 && lines[at - 1] == b'\r')
}

/// A number, or several times one number.
fn length(value: &[u8]) -> Option<u64> {
    let mut all = value.split(|byte| *byte == b',').map(number);
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}
