//! [`Upload`]: the body of a request, read only to find its end.

use http1::chunks::{Chunks, Part, Rules, SizeLines, TrailerNames};
use http1::request::Framing;

use crate::limits::{MAX_HEAD, MAX_UPLOAD};
use crate::status::Status;

/// How chunks are read: nothing of them is used or passed on.
const RULES: Rules = Rules {
    max_line: MAX_HEAD,
    max_trailers: MAX_HEAD,
    max_trailer_lines: usize::MAX,
    lines: SizeLines::Lenient,
    trailers: TrailerNames::All,
};

/// A body under way.
#[derive(Debug)]
pub(crate) struct Upload {
    expected: Expected,
    /// How much more is taken.
    room: u64,
}

/// What comes next in a body.
#[derive(Debug)]
enum Expected {
    /// This many bytes and then the end.
    Rest(u64),
    Chunks(Chunks),
}

impl Upload {
    /// A body of which nothing was read; an error when it is known to be too long.
    pub(crate) fn new(framing: Framing) -> Result<Self, Status> {
        let expected = match framing {
            Framing::Nothing => Expected::Rest(0),
            Framing::Length(length) if length > MAX_UPLOAD => return Err(Status::ContentTooLarge),
            Framing::Length(length) => Expected::Rest(length),
            Framing::Chunks => Expected::Chunks(Chunks::default()),
        };
        Ok(Self { expected, room: MAX_UPLOAD })
    }

    /// Whether the whole body was dropped.
    pub(crate) fn is_over(&self) -> bool {
        match &self.expected {
            Expected::Rest(left) => *left == 0,
            Expected::Chunks(chunks) => chunks.is_over(),
        }
    }

    /// Drops what `input` holds of the body; gives its length in bytes. Less than all of the input
    /// means that the body is over.
    pub(crate) fn discard(&mut self, input: &[u8]) -> Result<usize, Status> {
        let used = match &mut self.expected {
            Expected::Rest(left) => {
                let count = usize::try_from(*left).map_or(input.len(), |left| left.min(input.len()));
                *left -= count as u64;
                count
            }
            Expected::Chunks(chunks) => {
                let mut rest = input;
                while !matches!(
                    chunks.next(&mut rest, &RULES).map_err(|_| Status::BadRequest)?,
                    Part::More | Part::End
                ) {}
                input.len() - rest.len()
            }
        };
        self.room = self.room.checked_sub(used as u64).ok_or(Status::ContentTooLarge)?;
        Ok(used)
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
            assert_eq!(read(Framing::Chunks, &followed, step), Ok(Some(CHUNKED.len())), "{step}");
            assert_eq!(read(Framing::Chunks, &CHUNKED[..CHUNKED.len() - 1], step), Ok(None), "{step}");
            assert_eq!(read(Framing::Length(9), &followed, step), Ok(Some(9)), "{step}");
        }
        assert_eq!(read(Framing::Nothing, b"", 1), Ok(Some(0)));
    }

    #[test]
    fn what_is_not_a_chunk_is_refused() {
        for input in [&b"x\r\n"[..], b"5\r\nhelloo\r\n", b"fffffffffffffffff\r\n", &[b'0'; MAX_HEAD]] {
            assert_eq!(read(Framing::Chunks, input, MAX_HEAD), Err(Status::BadRequest));
        }
    }

    #[test]
    fn too_much_is_refused_when_it_is_known() {
        assert_eq!(read(Framing::Length(MAX_UPLOAD + 1), b"", 1), Err(Status::ContentTooLarge));
        let mut upload = Upload::new(Framing::Chunks).unwrap();
        upload.discard(b"fffffffffff\r\n").unwrap();
        let piece = vec![b'x'; 1 << 20];
        let taken = (0..1000).take_while(|_| upload.discard(&piece).is_ok()).count();
        assert_eq!(taken, 63, "and the chunk size does not fit into the last of 64 MiB");
    }

    proptest! {
        #[test]
        fn no_input_is_too_strange(input in proptest::collection::vec(any::<u8>(), 1..300), step in 1_usize..20) {
            let _ = read(Framing::Chunks, &input, step);
        }
    }
}
