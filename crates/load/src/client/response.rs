//! [`Response`]: finds where a response ends, and what the generator must know of it.
//!
//! Sans-IO: bytes in, progress out. Bodies are counted, not kept, and heads are bounded, so a
//! hostile server can cost time (which the timeout bounds) but not memory.

use http::{HeaderMap, header};
use record::RequestError;
use traffic::model::Object;
use units::Span;

use crate::client::chunked::Chunked;
use crate::client::head::{Framing, Heads, duration_in};
use crate::settings::checks::{Checks, Inspector};

/// More than any server sends; what is longer is not waited for.
const LONGEST_HEAD: usize = 32 * 1024;

/// What is known of a response before it comes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// How long its content is; another length in a 200 is an error.
    pub(crate) length: Option<u64>,
    /// It answers HEAD, and has no body whatever it announces.
    pub(crate) is_head: bool,
    /// Whether its cookies are of interest.
    pub(crate) cookies: bool,
    /// What its content is, where that is known and is to be looked at.
    pub(crate) content: Option<&'a Object>,
    /// What the user wants to hold.
    pub(crate) checks: &'a Checks,
    /// Who reads its head.
    pub(crate) heads: &'a Heads,
}

/// One response, from the first byte of its head to the last of its body.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    expected: Expected<'a>,
    state: State,
    /// A head that has not arrived in one piece.
    head: Vec<u8>,
    status: Option<u16>,
    body_bytes: u64,
    keep_alive: bool,
    /// `name=value; attributes` of each `Set-Cookie`.
    cookies: Vec<String>,
    server: Option<Span>,
    /// Looks at the body, where somebody wants to know more than its length.
    inspector: Option<Box<Inspector>>,
}

#[derive(Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
    Complete,
}

impl<'a> Response<'a> {
    pub(crate) fn new(expected: Expected<'a>) -> Self {
        Self {
            expected,
            state: State::Head,
            head: Vec::new(),
            status: None,
            body_bytes: 0,
            keep_alive: true,
            cookies: Vec::new(),
            server: None,
            inspector: expected.checks.inspector(expected.content),
        }
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.status
    }

    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Whether the connection can carry another request.
    pub(crate) fn keeps_alive(&self) -> bool {
        self.keep_alive && matches!(self.state, State::Complete)
    }

    pub(crate) fn cookies(&self) -> &[String] {
        &self.cookies
    }

    /// What the server says that it took.
    pub(crate) fn server_time(&self) -> Option<Span> {
        self.server
    }

    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    /// Takes the next bytes of the connection, and gives how many of them belonged to it.
    pub(crate) fn feed(&mut self, input: &[u8]) -> Result<usize, RequestError> {
        let mut rest = input;
        while !rest.is_empty() && !self.is_complete() {
            let used = match &mut self.state {
                State::Head => self.feed_head(rest)?,
                State::Length(left) => {
                    let take = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    *left -= take as u64;
                    let ended = *left == 0;
                    self.take_body(rest.get(..take).unwrap_or_default());
                    if ended {
                        self.complete()?;
                    }
                    take
                }
                State::Chunked(chunked) => {
                    let (body, inspector) = (&mut self.body_bytes, &mut self.inspector);
                    let progress = chunked.feed(rest, &mut |data| {
                        *body += data.len() as u64;
                        if let Some(inspector) = inspector {
                            inspector.look_at(data);
                        }
                    })?;
                    if progress.ended {
                        self.complete()?;
                    }
                    progress.used
                }
                State::UntilClose => {
                    self.take_body(rest);
                    rest.len()
                }
                State::Complete => 0,
            };
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(input.len() - rest.len())
    }

    /// The head of a response whose framing is seen to elsewhere.
    pub(crate) fn take_head(&mut self, status: u16, headers: &HeaderMap) {
        self.status = Some(status);
        self.state = State::UntilClose;
        if self.expected.cookies {
            let cookies = headers.get_all(header::SET_COOKIE).iter();
            self.cookies.extend(cookies.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()));
        }
        self.server = headers.get("server-timing").and_then(|value| duration_in(value.as_bytes()));
    }

    /// Its body has ended.
    pub(crate) fn finish(&mut self) -> Result<(), RequestError> {
        self.complete()
    }

    /// A piece of its body.
    pub(crate) fn take_body(&mut self, data: &[u8]) {
        self.body_bytes += data.len() as u64;
        if let Some(inspector) = &mut self.inspector {
            inspector.look_at(data);
        }
    }

    /// The connection was closed.
    pub(crate) fn end(&mut self) -> Result<(), RequestError> {
        match self.state {
            State::Head => Err(RequestError::Reset),
            State::Length(_) | State::Chunked(_) => Err(RequestError::Body),
            State::UntilClose => self.complete(),
            State::Complete => Ok(()),
        }
    }

    fn complete(&mut self) -> Result<(), RequestError> {
        self.state = State::Complete;
        let expected = self.expected.length.filter(|_| self.status == Some(200) && !self.expected.is_head);
        if expected.is_some_and(|expected| expected != self.body_bytes) {
            return Err(RequestError::Body);
        }
        let inspector = self.inspector.take();
        let holds = self.expected.checks.hold(self.status.unwrap_or(0), self.body_bytes, inspector);
        if holds { Ok(()) } else { Err(RequestError::Body) }
    }

    /// Gives how many bytes of `input` belonged to the head.
    fn feed_head(&mut self, input: &[u8]) -> Result<usize, RequestError> {
        if self.head.is_empty() {
            if let Some(length) = self.parse_head(input)? {
                return Ok(length);
            }
            self.keep_head(input)?;
            return Ok(input.len());
        }
        let before = self.head.len();
        self.keep_head(input)?;
        // A head that trickles in is parsed when its last line is there, not at every byte.
        let fresh = self.head.get(before.saturating_sub(3)..).unwrap_or_default();
        if !fresh.windows(2).any(|pair| pair == b"\n\n") && !fresh.windows(3).any(|three| three == b"\n\r\n")
        {
            return Ok(input.len());
        }
        let head = std::mem::take(&mut self.head);
        match self.parse_head(&head)? {
            // An interim response that was longer than the new bytes cannot be.
            Some(length) => Ok(length.saturating_sub(before)),
            None => {
                self.head = head;
                Ok(input.len())
            }
        }
    }

    fn keep_head(&mut self, input: &[u8]) -> Result<(), RequestError> {
        // Garbage is known by its first bytes; waiting for the end of its head helps nobody.
        self.head.extend_from_slice(input);
        let start = &self.head[..self.head.len().min(5)];
        if self.head.len() > LONGEST_HEAD || !b"HTTP/".starts_with(start) {
            return Err(RequestError::Protocol);
        }
        Ok(())
    }

    /// The length of the head if `bytes` hold all of it.
    fn parse_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, RequestError> {
        let Some(head) = self.expected.heads.read(bytes)? else { return Ok(None) };
        if head.is_interim() {
            // The real one follows.
            return Ok(Some(head.bytes));
        }
        self.status = Some(head.status);
        self.keep_alive = head.keep_alive;
        self.cookies = if self.expected.cookies { head.cookies } else { Vec::new() };
        self.server = head.server;
        self.state = match head.framing {
            _ if self.expected.is_head || matches!(head.status, 204 | 304) => State::Length(0),
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Chunked(Chunked::new()),
            Framing::UntilClose => {
                self.keep_alive = false;
                State::UntilClose
            }
        };
        if matches!(self.state, State::Length(0)) {
            self.complete()?;
        }
        Ok(Some(head.bytes))
    }
}

#[cfg(test)]
mod tests;
