//! [`Response`]: finds where a response ends.
//!
//! Sans-IO: bytes in, events out. Bodies are not kept, and heads are bounded, so a
//! hostile server can cost time (which the timeout bounds) but not memory.

use http1::chunks::{Chunks, Part, Rules};
use http1::response::Framing;
use units::Time;

use crate::client::exchange::Exchange;
use crate::client::fault::Fault;
use crate::client::http1::connection::Event;
use crate::client::http1::head::Heads;

/// Bytes of a head, over both versions of HTTP; more than any server sends, and what is longer is not waited for.
pub(crate) const MAX_HEAD: usize = 256 * 1024;

/// Size lines with extensions, and trailers, are not worth more; trailers are passed over.
const CHUNKS: Rules =
    Rules { max_line: 1024, max_trailers: 32 * 1024, max_trailer_lines: usize::MAX, ..Rules::RESPONSE };

/// Where on a connection a response is: from the first byte of its head to the last of its body.
#[derive(Debug, Default)]
pub(crate) struct Response {
    state: State,
    /// A head that has not arrived in one piece.
    head: Vec<u8>,
    /// Whether the server does not keep the connection open.
    closes: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Head,
    Length(u64),
    Chunks(Chunks),
    UntilClose,
    Complete,
}

impl Response {
    /// Another response begins on the connection.
    pub(crate) fn begin(&mut self) {
        self.state = State::Head;
        self.head.clear();
    }

    /// Whether the connection can carry another request.
    pub(crate) fn keeps_alive(&self) -> bool {
        !self.closes && self.is_complete()
    }

    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    /// How many of the next bytes are of the body, and are only counted.
    pub(crate) fn discardable(&self, exchange: &Exchange<'_>) -> u64 {
        match self.state {
            State::Length(left) if !exchange.looks_at_body() => left,
            _ => 0,
        }
    }

    /// Takes what has happened on the connection, tells `exchange` what it is, and gives how many of the bytes belonged
    /// to the response.
    ///
    /// # Errors
    /// When they are not the rest of a response, or the response is not what was asked for.
    pub(crate) fn take(
        &mut self,
        event: Event<'_>,
        now: Time,
        heads: &Heads,
        exchange: &mut Exchange<'_>,
    ) -> Result<usize, Fault> {
        match event {
            Event::Bytes(bytes) => self.feed(bytes, now, heads, exchange),
            Event::Sent => {
                exchange.sent(now);
                Ok(0)
            }
            Event::Discarded(length) => self.discarded(length, now, exchange).map(|()| 0),
            Event::Closed => self.close(now, exchange).map(|()| 0),
            Event::Cut if matches!(self.state, State::UntilClose) => {
                Err(Fault::Closed("cut off: TLS was not closed (close_notify)".into()))
            }
            Event::Cut => self.close(now, exchange).map(|()| 0),
        }
    }

    fn feed(
        &mut self,
        input: &[u8],
        now: Time,
        heads: &Heads,
        exchange: &mut Exchange<'_>,
    ) -> Result<usize, Fault> {
        let mut rest = input;
        while !rest.is_empty() && !self.is_complete() {
            let used = match &mut self.state {
                State::Head => {
                    exchange.received(now);
                    self.feed_head(rest, now, heads, exchange)?
                }
                State::Length(left) => {
                    let take = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    *left -= take as u64;
                    let ended = *left == 0;
                    exchange.body(rest.get(..take).unwrap_or_default());
                    if ended {
                        self.complete(now, exchange)?;
                    }
                    take
                }
                State::Chunks(chunks) => {
                    let mut left = rest;
                    let ended = loop {
                        match chunks.next(&mut left, &CHUNKS)? {
                            Part::Data(data) => exchange.body(data),
                            Part::Trailers(_) => {}
                            Part::More => break false,
                            Part::End => break true,
                        }
                    };
                    if ended {
                        self.complete(now, exchange)?;
                    }
                    rest.len() - left.len()
                }
                State::UntilClose => {
                    exchange.body(rest);
                    rest.len()
                }
                State::Complete => 0,
            };
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(input.len() - rest.len())
    }

    /// So many bytes of the body came, as [`Response::discardable`] allowed.
    fn discarded(&mut self, length: u64, now: Time, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
        let State::Length(left) = &mut self.state else { return Ok(()) };
        *left = left.saturating_sub(length);
        let ended = *left == 0;
        exchange.body_discarded(length);
        if ended { self.complete(now, exchange) } else { Ok(()) }
    }

    /// The server has closed the connection.
    fn close(&mut self, now: Time, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
        match self.state {
            State::Head if self.head.is_empty() => {
                Err(Fault::Closed("connection closed instead of a response".into()))
            }
            State::Head => Err(Fault::Closed("connection closed within the head".into())),
            State::Length(left) => {
                Err(Fault::Closed(format!("connection closed, {left} bytes of the body missing").into()))
            }
            State::Chunks(_) => Err(Fault::Closed("connection closed before the last chunk".into())),
            State::UntilClose => self.complete(now, exchange),
            State::Complete => Ok(()),
        }
    }

    fn complete(&mut self, now: Time, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
        self.state = State::Complete;
        exchange.end(now)
    }

    /// Gives how many bytes of `input` belonged to the head.
    fn feed_head(
        &mut self,
        input: &[u8],
        now: Time,
        heads: &Heads,
        exchange: &mut Exchange<'_>,
    ) -> Result<usize, Fault> {
        if self.head.is_empty() {
            if let Some(length) = self.parse_head(input, now, heads, exchange)? {
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
        match self.parse_head(&head, now, heads, exchange)? {
            // An interim response that was longer than the new bytes cannot be.
            Some(length) => Ok(length.saturating_sub(before)),
            None => {
                self.head = head;
                Ok(input.len())
            }
        }
    }

    fn keep_head(&mut self, input: &[u8]) -> Result<(), Fault> {
        // Garbage is known by its first bytes; the end of its head is not waited for.
        self.head.extend_from_slice(input);
        let start = &self.head[..self.head.len().min(5)];
        if !b"HTTP/".starts_with(start) {
            return Err(Fault::malformed("not HTTP: it does not begin with HTTP/"));
        }
        if self.head.len() > MAX_HEAD {
            return Err(Fault::malformed("a head above 256 KiB"));
        }
        Ok(())
    }

    /// The length of the head if `bytes` hold all of it.
    fn parse_head(
        &mut self,
        bytes: &[u8],
        now: Time,
        heads: &Heads,
        exchange: &mut Exchange<'_>,
    ) -> Result<Option<usize>, Fault> {
        let Some(head) = heads.read(bytes)? else { return Ok(None) };
        let (length, status) = (head.bytes, head.facts.status);
        if head.is_interim {
            exchange.interim(status, now)?;
            return Ok(Some(length));
        }
        self.closes = !head.keep_alive || matches!(head.framing, Framing::UntilClose);
        self.state = match head.framing {
            _ if exchange.is_head() => State::Length(0),
            Framing::Nothing => State::Length(0),
            Framing::Length(length) => State::Length(length),
            Framing::Chunks => State::Chunks(Chunks::default()),
            Framing::UntilClose => State::UntilClose,
        };
        exchange.head(head.facts, now)?;
        if matches!(self.state, State::Length(0)) {
            self.complete(now, exchange)?;
        }
        Ok(Some(length))
    }
}

#[cfg(test)]
mod tests;
