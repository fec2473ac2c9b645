//! [`Response`]: finds where a response ends, and what the generator must know of it.
//!
//! Sans-IO: bytes in, progress out. Bodies are counted, not kept, and heads are bounded, so a
//! hostile server can cost time (which the timeout bounds) but not memory.

use record::RequestError;

use crate::chunked::Chunked;

/// More than any server sends; what is longer is not waited for.
const LONGEST_HEAD: usize = 32 * 1024;
const MOST_HEADERS: usize = 128;

/// One response, from the first byte of its head to the last of its body.
#[derive(Debug)]
pub(crate) struct Response {
    state: State,
    /// A head that has not arrived in one piece.
    head: Vec<u8>,
    status: Option<u16>,
    body_bytes: u64,
    keep_alive: bool,
    /// `name=value; attributes` of each `Set-Cookie`.
    cookies: Vec<String>,
    expected_length: Option<u64>,
}

#[derive(Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
    Complete,
}

impl Response {
    /// The response to a request for content that is `expected_length` bytes long, where the
    /// length is known; another length in a 200 is an error.
    pub(crate) fn new(expected_length: Option<u64>) -> Self {
        Self {
            state: State::Head,
            head: Vec::new(),
            status: None,
            body_bytes: 0,
            keep_alive: true,
            cookies: Vec::new(),
            expected_length,
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

    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    /// Takes the next bytes of the connection.
    pub(crate) fn feed(&mut self, mut input: &[u8]) -> Result<(), RequestError> {
        while !input.is_empty() {
            let used = match &mut self.state {
                State::Head => self.feed_head(input)?,
                State::Length(left) => {
                    let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                    *left -= take as u64;
                    self.body_bytes += take as u64;
                    if *left == 0 {
                        self.complete()?;
                    }
                    take
                }
                State::Chunked(chunked) => {
                    let progress = chunked.feed(input)?;
                    self.body_bytes += progress.body;
                    if progress.ended {
                        self.complete()?;
                    }
                    progress.used
                }
                State::UntilClose => {
                    self.body_bytes += input.len() as u64;
                    input.len()
                }
                // More than was announced is not the content that was asked for.
                State::Complete => return Err(RequestError::Body),
            };
            input = input.get(used..).unwrap_or_default();
        }
        Ok(())
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
        match (self.status, self.expected_length) {
            (Some(200), Some(expected)) if expected != self.body_bytes => Err(RequestError::Body),
            _ => Ok(()),
        }
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
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        let length = match head.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(RequestError::Protocol),
        };
        let status = head.code.ok_or(RequestError::Protocol)?;
        match status {
            // An interim response (RFC 9110, section 15.2); the real one follows.
            100..=199 if status != 101 => return Ok(Some(length)),
            200..=999 => {}
            _ => return Err(RequestError::Protocol),
        }
        self.status = Some(status);
        self.keep_alive = head.version == Some(1);
        self.state = self.body_of(&head, status)?;
        if matches!(self.state, State::Length(0)) {
            self.complete()?;
        }
        Ok(Some(length))
    }

    /// How the body is delimited: RFC 9112, section 6.3, for responses to GET.
    fn body_of(&mut self, head: &httparse::Response<'_, '_>, status: u16) -> Result<State, RequestError> {
        let mut length = None;
        let mut chunked = false;
        for header in head.headers.iter() {
            let value = header.value.trim_ascii();
            if header.name.eq_ignore_ascii_case("content-length") {
                let announced = parse_length(value).ok_or(RequestError::Protocol)?;
                if length.is_some_and(|length| length != announced) {
                    return Err(RequestError::Protocol);
                }
                length = Some(announced);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(RequestError::Protocol);
                }
                chunked = true;
            } else if header.name.eq_ignore_ascii_case("connection") {
                let mut options = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                if options.clone().any(|option| option.eq_ignore_ascii_case(b"close")) {
                    self.keep_alive = false;
                } else if options.any(|option| option.eq_ignore_ascii_case(b"keep-alive")) {
                    self.keep_alive = true;
                }
            } else if header.name.eq_ignore_ascii_case("set-cookie") {
                self.cookies.push(String::from_utf8_lossy(value).into_owned());
            }
        }
        Ok(match (status, chunked, length) {
            (204 | 304, _, _) => State::Length(0),
            (_, true, _) => State::Chunked(Chunked::new()),
            (_, false, Some(length)) => State::Length(length),
            (_, false, None) => {
                self.keep_alive = false;
                State::UntilClose
            }
        })
    }
}

/// Digits only: `+5` is a number to Rust and an attack to HTTP.
fn parse_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests;
