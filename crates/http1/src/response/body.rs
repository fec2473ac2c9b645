//! [`Body`]: what is still to come of a response's body.

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, HeaderName, HeaderValue};
use httparse::Status;

use super::head::Framing;
use super::malformed::Malformed;
use crate::chunks::{Chunks, Part, Rules};

/// What is still to come of a body.
#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    Nothing,
    /// So many bytes.
    Length(u64),
    /// Chunks, and perhaps trailers.
    Chunks(Box<Chunked>),
    /// All until the connection ends.
    UntilClose,
}

/// A body of chunks, and what has come of its trailers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Chunked {
    chunks: Chunks,
    trailers: Vec<u8>,
}

/// A piece of a body.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// More has to come first.
    More,
    /// Content.
    Data(Bytes),
    /// The trailers; the body is over.
    Trailers(HeaderMap),
    /// The body is over.
    End,
}

/// How chunks of responses are read.
const RULES: Rules = Rules::RESPONSE;

impl From<Framing> for Body {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Nothing | Framing::Length(0) => Self::Nothing,
            Framing::Length(length) => Self::Length(length),
            Framing::Chunks => Self::Chunks(Box::default()),
            Framing::UntilClose => Self::UntilClose,
        }
    }
}

impl Body {
    /// The next piece of what is here, which is cut off its beginning.
    ///
    /// # Errors
    /// When the body is not framed as its head says.
    pub fn next(&mut self, here: &mut Bytes) -> Result<Piece, Malformed> {
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
            Self::Chunks(chunked) => {
                let piece = chunked.next(here)?;
                if chunked.chunks.is_over() {
                    *self = Self::Nothing;
                }
                Ok(piece)
            }
        }
    }

    /// Bytes that are left, if that is known.
    pub fn left(&self) -> Option<u64> {
        match self {
            Self::Nothing => Some(0),
            Self::Length(left) => Some(*left),
            Self::Chunks(_) | Self::UntilClose => None,
        }
    }
}

impl Chunked {
    fn next(&mut self, here: &mut Bytes) -> Result<Piece, Malformed> {
        loop {
            let mut rest = &here[..];
            let part = self.chunks.next(&mut rest, &RULES)?;
            let read = here.len() - rest.len();
            match part {
                Part::More => {
                    here.clear();
                    return Ok(Piece::More);
                }
                Part::Data(data) => {
                    let data = here.slice_ref(data);
                    here.advance(read);
                    return Ok(Piece::Data(data));
                }
                Part::Trailers(lines) => {
                    self.trailers.extend_from_slice(lines);
                    here.advance(read);
                    if self.chunks.is_over() {
                        return fields(&self.trailers);
                    }
                }
                Part::End => return Ok(Piece::End),
            }
        }
    }
}

/// The trailers, the empty line after them included.
fn fields(lines: &[u8]) -> Result<Piece, Malformed> {
    if lines == b"\r\n" {
        return Ok(Piece::End);
    }
    let mut fields = [httparse::EMPTY_HEADER; RULES.max_trailer_lines];
    let Ok(Status::Complete((_, fields))) = httparse::parse_headers(lines, &mut fields) else {
        return Err(Malformed::Trailers);
    };
    let mut trailers = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Malformed::Trailers)?;
        let value = HeaderValue::from_bytes(field.value).map_err(|_| Malformed::Trailers)?;
        trailers.append(name, value);
    }
    Ok(Piece::Trailers(trailers))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a body that comes in pieces of `size` bytes.
    fn read(text: &str, size: usize) -> Result<(String, HeaderMap, bool, usize), Malformed> {
        let (mut chunks, mut data, mut trailers) =
            (Body::from(Framing::Chunks), Vec::new(), HeaderMap::new());
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
            if chunks == Body::Nothing {
                break;
            }
        }
        Ok((String::from_utf8(data).unwrap(), trailers, chunks == Body::Nothing, left))
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
    fn what_is_not_a_chunk_is_refused() {
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
        let endless = format!("0\r\n{}", "a: b\r\n".repeat(RULES.max_trailers / 6 + 1));
        assert_eq!(read(&endless, 1000).err(), Some(Malformed::Trailers));
        let endless = format!("1;{}", "a".repeat(RULES.max_line));
        assert_eq!(read(&endless, 1000).err(), Some(Malformed::Chunk));
    }
}
