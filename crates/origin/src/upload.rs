//! [`Upload`]: the body of a request, read only to find its end.

use crate::inbox::HEAD_LIMIT;
use crate::status::Status;

/// The longest body of a request that is taken, chunk sizes and trailers included: 64 MiB.
pub const LARGEST_UPLOAD: u64 = 64 << 20;

/// How the end of a body is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// After this many bytes.
    Length(u64),
    /// After the chunk of length zero.
    Chunked,
}

/// A body under way.
#[derive(Debug)]
pub(crate) struct Upload {
    expected: Expected,
    /// How much more is taken.
    room: u64,
}

/// What comes next in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// This many bytes and then the end.
    Rest(u64),
    ChunkSize,
    /// This many bytes of a chunk and then its line end.
    Chunk(u64),
    ChunkEnd,
    Trailer,
}

impl Upload {
    /// A body of which nothing was read; an error when it is known to be too long.
    pub(crate) fn new(framing: Framing) -> Result<Self, Status> {
        let expected = match framing {
            Framing::Length(length) if length > LARGEST_UPLOAD => return Err(Status::ContentTooLarge),
            Framing::Length(length) => Expected::Rest(length),
            Framing::Chunked => Expected::ChunkSize,
        };
        Ok(Self { expected, room: LARGEST_UPLOAD })
    }

    /// Whether the whole body was dropped.
    pub(crate) fn is_over(&self) -> bool {
        self.expected == Expected::Rest(0)
    }

    /// Drops what `input` holds of the body; gives its length in bytes. Less than all of the input
    /// means that the body is over, or that the rest makes no sense before more has come.
    pub(crate) fn discard(&mut self, input: &[u8]) -> Result<usize, Status> {
        let mut used = 0;
        while !self.is_over() {
            let rest = input.get(used..).unwrap_or_default();
            let count = self.step(rest)?;
            if count == 0 {
                if rest.len() >= HEAD_LIMIT {
                    return Err(Status::BadRequest);
                }
                break;
            }
            self.room = self.room.checked_sub(count as u64).ok_or(Status::ContentTooLarge)?;
            used += count;
        }
        Ok(used)
    }

    /// Drops one part; 0 when it is not complete.
    fn step(&mut self, input: &[u8]) -> Result<usize, Status> {
        let up_to = |left: u64| usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
        match self.expected {
            Expected::Rest(left) => {
                let count = up_to(left);
                self.expected = Expected::Rest(left - count as u64);
                Ok(count)
            }
            Expected::ChunkSize => match httparse::parse_chunk_size(input) {
                Ok(httparse::Status::Complete((count, size))) => {
                    self.expected = if size == 0 { Expected::Trailer } else { Expected::Chunk(size) };
                    Ok(count)
                }
                Ok(httparse::Status::Partial) => Ok(0),
                Err(_) => Err(Status::BadRequest),
            },
            Expected::Chunk(left) => {
                let count = up_to(left);
                let left = left - count as u64;
                self.expected = if left == 0 { Expected::ChunkEnd } else { Expected::Chunk(left) };
                Ok(count)
            }
            Expected::ChunkEnd => match input {
                [b'\r', b'\n', ..] => {
                    self.expected = Expected::ChunkSize;
                    Ok(2)
                }
                [] | [b'\r'] => Ok(0),
                _ => Err(Status::BadRequest),
            },
            Expected::Trailer => {
                let Some(end) = input.iter().position(|&byte| byte == b'\n') else { return Ok(0) };
                if matches!(input.get(..end), Some(b"" | b"\r")) {
                    self.expected = Expected::Rest(0);
                }
                Ok(end + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHUNKED: &[u8] = b"5;a=b\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: x\r\n\r\n";

    /// Feeds `input` in parts of `step` bytes; gives how much of it the body was.
    fn read(framing: Framing, input: &[u8], step: usize) -> Result<Option<usize>, Status> {
        let mut upload = Upload::new(framing)?;
        let (mut used, mut there) = (0, 0);
        while !upload.is_over() {
            if there == input.len() {
                return Ok(None);
            }
            there = input.len().min(there + step);
            used += upload.discard(&input[used..there])?;
        }
        Ok(Some(used))
    }

    #[test]
    fn a_body_ends_where_it_ends_however_it_comes() {
        let followed = [CHUNKED, b"GET / HTTP/1.1\r\n"].concat();
        for step in [1, 2, 3, 7, 1000] {
            assert_eq!(read(Framing::Chunked, &followed, step), Ok(Some(CHUNKED.len())), "{step}");
            assert_eq!(read(Framing::Chunked, &CHUNKED[..CHUNKED.len() - 1], step), Ok(None), "{step}");
            assert_eq!(read(Framing::Length(9), &followed, step), Ok(Some(9)), "{step}");
        }
        assert_eq!(read(Framing::Length(0), b"", 1), Ok(Some(0)));
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        for input in [&b"x\r\n"[..], b"5\r\nhelloo\r\n", b"fffffffffffffffff\r\n", &[b'0'; HEAD_LIMIT]] {
            assert_eq!(read(Framing::Chunked, input, HEAD_LIMIT), Err(Status::BadRequest));
        }
    }

    #[test]
    fn too_much_is_refused_when_it_is_known() {
        assert_eq!(read(Framing::Length(LARGEST_UPLOAD + 1), b"", 1), Err(Status::ContentTooLarge));
        let mut upload = Upload::new(Framing::Chunked).unwrap();
        upload.discard(b"fffffffffff\r\n").unwrap();
        let piece = vec![b'x'; 1 << 20];
        let taken = (0..1000).take_while(|_| upload.discard(&piece).is_ok()).count();
        assert_eq!(taken, 63, "and the chunk size does not fit into the last of 64 MiB");
    }

    proptest! {
        #[test]
        fn no_input_is_too_strange(input in proptest::collection::vec(any::<u8>(), 1..300), step in 1_usize..20) {
            let _ = read(Framing::Chunked, &input, step);
        }
    }
}
