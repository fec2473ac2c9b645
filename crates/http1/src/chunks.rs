//! [`Chunks`]: decodes the chunked transfer coding (RFC 9112 section 7.1).

use crate::characters::{TEXT, TOKEN, class};
use crate::headers::names;

/// How much of what a body of chunks may have, and what is forgiven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Bytes of the line before a chunk: its size and extensions.
    pub max_line: usize,
    /// Bytes of all trailer lines.
    pub max_trailers: usize,
    /// Trailer lines.
    pub max_trailer_lines: usize,
    /// How the line before a chunk is read.
    pub lines: SizeLines,
    /// Which trailers may come.
    pub trailers: TrailerNames,
}

/// How the line before a chunk is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeLines {
    /// Blanks may follow the size, with which some servers fill their lines up, and extensions may
    /// be anything but control characters.
    Lenient,
    /// By the grammar of RFC 9112.
    Strict,
}

/// Which trailers may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrailerNames {
    /// Any: a proxy that passes them on removes what may not come.
    All,
    /// None that decides what the message means (RFC 9110 section 6.5.1), nor one that looks like
    /// such a one to a server that takes underscores for hyphens.
    Harmless,
}

impl Rules {
    /// What servers send: as strict as their variety allows.
    pub const RESPONSE: Self = Self {
        max_line: 4096,
        max_trailers: 16 * 1024,
        max_trailer_lines: 100,
        lines: SizeLines::Lenient,
        trailers: TrailerNames::All,
    };
}

/// What is wrong with a body of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Not a size, or not the end of a line where one belongs.
    #[error("a chunk is malformed")]
    Chunk,
    /// The line before a chunk is longer than [`Rules::max_line`].
    #[error("the line before a chunk is too long")]
    LineSize,
    /// A trailer is malformed, or may not come.
    #[error("a trailer is malformed, or belongs into the head")]
    Trailer,
    /// More trailers than [`Rules::max_trailers`] or [`Rules::max_trailer_lines`].
    #[error("the trailers are too large")]
    TrailerSize,
}

/// A part of a body of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// The input is used up.
    More,
    /// Data of a chunk.
    Data(&'a [u8]),
    /// Of the lines after the last chunk: whole lines or parts of them, with their ends, and the
    /// empty line in the end.
    Trailers(&'a [u8]),
    /// The body is over. What is left of the input follows it.
    End,
}

/// Where in a body of chunks one is. It keeps no data, and allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunks {
    state: State,
    /// Of the chunk: its length while that is read, then what is left of it.
    left: u64,
    /// Bytes of this chunk's line, or of all trailers.
    line: usize,
    /// Trailer lines.
    trailers: usize,
    /// The name of the trailer that is being read, as far as it fits.
    name: [u8; MAX_NAME],
    named: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first digit.
    Start,
    Size,
    /// Blanks after the digits.
    Blanks,
    /// After the semicolon, before the extension's name.
    Extension,
    Extensions,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    /// At the beginning of a line after the last chunk.
    Trailer,
    Name,
    Value,
    ValueEnd,
    LastEnd,
    Over,
}

/// Longer than any name that matters.
const MAX_NAME: usize = 32;
/// Digits of a size: 2^60 bytes are more than any message has.
const MAX_DIGITS: usize = 15;

impl Default for Chunks {
    fn default() -> Self {
        Self { state: State::Start, left: 0, line: 0, trailers: 0, name: [0; MAX_NAME], named: 0 }
    }
}

impl Chunks {
    /// Whether the whole body was read.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// The next part of `input`, which is cut off its beginning.
    ///
    /// # Errors
    /// When the body is malformed. `input` then begins with the first byte that cannot be.
    #[inline]
    pub fn next<'a>(&mut self, input: &mut &'a [u8], rules: &Rules) -> Result<Part<'a>, Fault> {
        loop {
            match self.state {
                State::Over => return Ok(Part::End),
                _ if input.is_empty() => return Ok(Part::More),
                State::Data => return Ok(self.data(input)),
                State::Trailer | State::Name | State::Value | State::ValueEnd | State::LastEnd => {
                    return self.trailer_part(input, rules);
                }
                _ => self.state = self.size(input[0], rules)?,
            }
            *input = &input[1..];
        }
    }

    fn data<'a>(&mut self, input: &mut &'a [u8]) -> Part<'a> {
        let length = input.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let (data, rest) = input.split_at(length);
        self.left -= length as u64;
        if self.left == 0 {
            self.state = State::DataCr;
        }
        *input = rest;
        Part::Data(data)
    }

    fn trailer_part<'a>(&mut self, input: &mut &'a [u8], rules: &Rules) -> Result<Part<'a>, Fault> {
        let (all, mut read) = (*input, 0);
        while read < all.len() && self.state != State::Over {
            match self.trailer(all[read], rules) {
                Ok(state) => self.state = state,
                Err(fault) => {
                    *input = &all[read..];
                    return Err(fault);
                }
            }
            read += 1;
        }
        let (part, rest) = all.split_at(read);
        *input = rest;
        Ok(Part::Trailers(part))
    }

    /// A byte of the line before a chunk, or after its data.
    fn size(&mut self, byte: u8, rules: &Rules) -> Result<State, Fault> {
        match (self.state, byte) {
            (State::SizeEnd, b'\n') => {
                self.line = 0;
                return Ok(if self.left == 0 { State::Trailer } else { State::Data });
            }
            (State::DataCr, b'\r') => return Ok(State::DataLf),
            (State::DataLf, b'\n') => return Ok(State::Start),
            _ => {}
        }
        self.line += 1;
        if self.line > rules.max_line {
            return Err(Fault::LineSize);
        }
        let lenient = rules.lines == SizeLines::Lenient;
        match (self.state, byte) {
            (State::Start | State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
                if self.line <= MAX_DIGITS =>
            {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                self.left = self.left << 4 | u64::from(digit);
                Ok(State::Size)
            }
            (State::Size | State::Blanks | State::Extensions, b'\r') => Ok(State::SizeEnd),
            (State::Extension, b'\r') if lenient => Ok(State::SizeEnd),
            (State::Size | State::Blanks, b' ' | b'\t') if lenient => Ok(State::Blanks),
            (State::Size | State::Blanks | State::Extensions, b';') => Ok(State::Extension),
            (State::Extension, _) if class(byte) & TOKEN != 0 => Ok(State::Extensions),
            (State::Extension, _) if lenient && class(byte) & TEXT != 0 => Ok(State::Extensions),
            (State::Extensions, _) if class(byte) & TEXT != 0 => Ok(State::Extensions),
            _ => Err(Fault::Chunk),
        }
    }

    fn trailer(&mut self, byte: u8, rules: &Rules) -> Result<State, Fault> {
        self.line += 1;
        // The empty line at the end is not one of them.
        if self.line > rules.max_trailers + 2 {
            return Err(Fault::TrailerSize);
        }
        match (self.state, byte) {
            (State::Trailer, b'\r') => Ok(State::LastEnd),
            (State::LastEnd, b'\n') => Ok(State::Over),
            (State::Trailer, _) if class(byte) & TOKEN != 0 => {
                self.trailers += 1;
                self.named = 0;
                self.keep(byte);
                if self.trailers > rules.max_trailer_lines {
                    Err(Fault::TrailerSize)
                } else {
                    Ok(State::Name)
                }
            }
            (State::Name, b':') if self.may_be_trailer(rules) => Ok(State::Value),
            (State::Name, _) if class(byte) & TOKEN != 0 => {
                self.keep(byte);
                Ok(State::Name)
            }
            (State::Value, b'\r') => Ok(State::ValueEnd),
            (State::Value, _) if class(byte) & TEXT != 0 => Ok(State::Value),
            (State::ValueEnd, b'\n') => Ok(State::Trailer),
            _ => Err(Fault::Trailer),
        }
    }

    fn may_be_trailer(&self, rules: &Rules) -> bool {
        // A longer name is not kept as a whole, and none that matters.
        let name = self.name.get(..self.named).unwrap_or_default();
        match rules.trailers {
            TrailerNames::All => true,
            TrailerNames::Harmless => {
                names::may_be_trailer(name) && !(name.contains(&b'_') && names::is_alias(name))
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if let Some(place) = self.name.get_mut(self.named) {
            *place = byte;
        }
        self.named += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of the data, what follows the body, and whether it is over.
    fn read(bytes: &[u8], rules: &Rules) -> Result<(usize, usize, bool), Fault> {
        let (mut chunks, mut rest, mut data) = (Chunks::default(), bytes, 0);
        loop {
            match chunks.next(&mut rest, rules)? {
                Part::Data(piece) => data += piece.len(),
                Part::Trailers(_) => {}
                Part::More | Part::End => return Ok((data, rest.len(), chunks.is_over())),
            }
        }
    }

    #[test]
    fn sizes_are_hexadecimal_and_have_as_many_digits_as_any_body_needs() {
        for size in [1, 9, 0xa, 0x10, 0xff, 0x1a2b, 0xfeed] {
            for text in [format!("{size:x}"), format!("{size:X}"), format!("{size:015x}")] {
                let body = [text.as_bytes(), b"\r\n", &vec![b'x'; size], b"\r\n0\r\n\r\nnext"].concat();
                assert_eq!(read(&body, &Rules::RESPONSE), Ok((size, 4, true)), "{text}");
                let short = &body[..text.len() + 2 + size];
                assert_eq!(read(short, &Rules::RESPONSE), Ok((size, 0, false)), "{text}");
            }
        }
        assert_eq!(read(b"fffffffffffffff\r\nx", &Rules::RESPONSE), Ok((1, 0, false)));
        assert_eq!(read(b"1000000000000000\r\nx", &Rules::RESPONSE), Err(Fault::Chunk));
    }

    #[test]
    fn only_what_is_lenient_forgives_blanks_after_a_size() {
        let strict = Rules { lines: SizeLines::Strict, ..Rules::RESPONSE };
        for text in ["1 \r\nx\r\n0\r\n\r\n", "1;\r\nx\r\n0\r\n\r\n", "1 ;a\r\nx\r\n0\r\n\r\n"] {
            assert_eq!(read(text.as_bytes(), &Rules::RESPONSE), Ok((1, 0, true)), "{text:?}");
            assert_eq!(read(text.as_bytes(), &strict), Err(Fault::Chunk), "{text:?}");
        }
    }
}
