//! [`Chunks`]: the data of a body that comes in chunks (RFC 9112 section 7.1).

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, HeaderName, HeaderValue};
use httparse::Status;

use super::response::{Malformed, has_whole_line_ends};

/// How far a body of chunks has come.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Chunks {
    state: State,
    /// Of the chunk: its length while that is read, then what is left of it.
    left: u64,
    /// Bytes of the line before it.
    line: usize,
    trailers: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first digit.
    #[default]
    Start,
    Size,
    /// After the digits.
    Blanks,
    Extensions,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    Trailers,
    Over,
}

/// A piece of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// More has to come first.
    More,
    Data(Bytes),
    Trailers(HeaderMap),
    End,
}

/// The line before a chunk: its length and extensions.
const LONGEST_LINE: usize = 4096;
/// 2^60 bytes are more than anybody sends.
const LONGEST_SIZE: usize = 15;
const LARGEST_TRAILERS: usize = 16 * 1024;
const FIELDS: usize = 100;

impl Chunks {
    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// The next piece of what is here.
    pub(super) fn next(&mut self, here: &mut Bytes) -> Result<Piece, Malformed> {
        while !here.is_empty() {
            match self.state {
                State::Data => {
                    let data =
                        here.split_to(here.len().min(usize::try_from(self.left).unwrap_or(usize::MAX)));
                    self.left -= data.len() as u64;
                    if self.left == 0 {
                        self.state = State::DataCr;
                    }
                    return Ok(Piece::Data(data));
                }
                State::Trailers => {
                    self.trailers.push(here.get_u8());
                    if let Some(end) = self.trailers_end()? {
                        return Ok(end);
                    }
                }
                State::Over => return Ok(Piece::End),
                _ => self.state = self.byte(here.get_u8())?,
            }
        }
        Ok(if self.is_over() { Piece::End } else { Piece::More })
    }

    fn byte(&mut self, byte: u8) -> Result<State, Malformed> {
        self.line += 1;
        match (self.state, byte) {
            (State::Start | State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
                if self.line <= LONGEST_SIZE =>
            {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                self.left = self.left << 4 | u64::from(digit);
                Ok(State::Size)
            }
            (State::Size | State::Blanks | State::Extensions, b'\r') => Ok(State::SizeEnd),
            // Some servers fill their lines up with blanks.
            (State::Size | State::Blanks, b' ' | b'\t') if self.line <= LONGEST_LINE => Ok(State::Blanks),
            (State::Size | State::Blanks, b';') => Ok(State::Extensions),
            (State::Extensions, b'\t' | b' '..=b'~' | 0x80..) if self.line <= LONGEST_LINE => {
                Ok(State::Extensions)
            }
            (State::SizeEnd, b'\n') if self.left == 0 => Ok(State::Trailers),
            (State::SizeEnd, b'\n') => Ok(State::Data),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => {
                self.line = 0;
                Ok(State::Start)
            }
            _ => Err(Malformed::Chunk),
        }
    }

    /// Whether the last byte was that of the empty line after all trailers, and what there were.
    fn trailers_end(&mut self) -> Result<Option<Piece>, Malformed> {
        if self.trailers.len() > LARGEST_TRAILERS {
            return Err(Malformed::Trailers);
        }
        if self.trailers == b"\r\n" {
            self.state = State::Over;
            return Ok(Some(Piece::End));
        }
        if !self.trailers.ends_with(b"\n\r\n") {
            return Ok(None);
        }
        self.state = State::Over;
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let Ok(Status::Complete((_, fields))) = httparse::parse_headers(&self.trailers, &mut fields) else {
            return Err(Malformed::Trailers);
        };
        if !has_whole_line_ends(&self.trailers) {
            return Err(Malformed::Trailers);
        }
        let mut trailers = HeaderMap::with_capacity(fields.len());
        for field in fields {
            let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Malformed::Trailers)?;
            let value = HeaderValue::from_bytes(field.value).map_err(|_| Malformed::Trailers)?;
            trailers.append(name, value);
        }
        Ok(Some(Piece::Trailers(trailers)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a body that comes in pieces of `size` bytes.
    fn read(text: &str, size: usize) -> Result<(String, HeaderMap, bool, usize), Malformed> {
        let (mut chunks, mut data, mut trailers) = (Chunks::default(), Vec::new(), HeaderMap::new());
        let mut left = text.len();
        for piece in text.as_bytes().chunks(size) {
            let mut here = Bytes::copy_from_slice(piece);
            loop {
                match chunks.next(&mut here)? {
                    Piece::Data(piece) => data.extend_from_slice(&piece),
                    Piece::Trailers(fields) => trailers = fields,
                    Piece::More | Piece::End => break,
                }
            }
            left -= piece.len() - here.len();
            if chunks.is_over() {
                break;
            }
        }
        Ok((String::from_utf8(data).unwrap(), trailers, chunks.is_over(), left))
    }

    #[test]
    fn chunks_are_put_together_wherever_they_are_cut() {
        let text =
            "5\r\nhello\r\n00A;a=\"b;c\"\r\n, world!!!\r\n1  \r\n!\r\n0\r\nx-sum: 42\r\na: b\r\n\r\nnext";
        for size in 1..=text.len() {
            let (data, trailers, over, left) = read(text, size).unwrap();
            assert_eq!((data.as_str(), over, left), ("hello, world!!!!", true, 4), "{size}");
            assert_eq!((trailers.len(), &trailers["x-sum"]), (2, &"42".parse().unwrap()));
        }
        assert_eq!(read("0\r\n\r\n", 1).unwrap(), (String::new(), HeaderMap::new(), true, 0));
        assert_eq!(read("2\r\nab", 1).unwrap(), ("ab".to_owned(), HeaderMap::new(), false, 0));
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        for (text, why) in [
            ("\r\n", Malformed::Chunk),
            ("-1\r\na\r\n", Malformed::Chunk),
            ("g\r\n", Malformed::Chunk),
            ("1\na\r\n", Malformed::Chunk),
            ("1\r\nab\r\n", Malformed::Chunk),
            ("1\r\na\n", Malformed::Chunk),
            ("1;\n", Malformed::Chunk),
            ("1 1\r\n", Malformed::Chunk),
            ("1111111111111111\r\n", Malformed::Chunk),
            (";a\r\n", Malformed::Chunk),
            ("0\r\nno trailer\r\n\r\n", Malformed::Trailers),
            ("0\r\na: b\nc: d\r\n\r\n", Malformed::Trailers),
            ("0\r\na: b\n\r\n", Malformed::Trailers),
        ] {
            for size in [1, text.len()] {
                assert_eq!(read(text, size).err(), Some(why), "{text:?}");
            }
        }
        let endless = format!("0\r\n{}", "a: b\r\n".repeat(LARGEST_TRAILERS / 6 + 1));
        assert_eq!(read(&endless, 1000).err(), Some(Malformed::Trailers));
        let endless = format!("1;{}", "a".repeat(LONGEST_LINE));
        assert_eq!(read(&endless, 1000).err(), Some(Malformed::Chunk));
    }
}
