//! [`Chunked`]: the chunked transfer coding (RFC 9112, section 7.1), counted rather than kept.

use crate::client::exchange::Fault;

/// Size lines with extensions, and trailers, are not worth more.
const MAX_LINE: u32 = 1024;
const MAX_TRAILERS: u32 = 32 * 1024;

#[derive(Debug)]
pub(crate) struct Chunked {
    state: State,
    /// Bytes of the line, or of all trailers, so far.
    seen: u32,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// In the hexadecimal size; `true` once a digit was there.
    Size(u64, bool),
    Extension(u64),
    SizeLineFeed(u64),
    Data(u64),
    DataReturn,
    DataLineFeed,
    /// In the lines after the last chunk; `true` at the start of a line.
    Trailer(bool),
}

/// What [`Chunked::feed`] did with its input.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes that belonged to the coding.
    pub(crate) used: usize,
    /// Whether the body has ended.
    pub(crate) ended: bool,
}

impl Chunked {
    pub(crate) fn new() -> Self {
        Self { state: State::Size(0, false), seen: 0 }
    }

    /// Has `take` look at the body in `input`, piece by piece.
    pub(crate) fn feed(&mut self, input: &[u8], take: &mut impl FnMut(&[u8])) -> Result<Progress, Fault> {
        let mut progress = Progress::default();
        while let Some(&byte) = input.get(progress.used) {
            if let State::Data(left) = self.state {
                let available = input.get(progress.used..).unwrap_or_default();
                let most = usize::try_from(left).unwrap_or(usize::MAX).min(available.len());
                take(available.get(..most).unwrap_or_default());
                progress.used += most;
                let left = left - most as u64;
                self.state = if left == 0 { State::DataReturn } else { State::Data(left) };
                continue;
            }
            progress.used += 1;
            if self.step(byte)? {
                progress.ended = true;
                break;
            }
        }
        Ok(progress)
    }

    /// Takes one byte that is not data; gives whether it was the last.
    fn step(&mut self, byte: u8) -> Result<bool, Fault> {
        self.seen += 1;
        let bound = if matches!(self.state, State::Trailer(_)) { MAX_TRAILERS } else { MAX_LINE };
        if self.seen > bound {
            return Err(Fault::Malformed);
        }
        self.state = match (self.state, byte) {
            (State::Size(size, _), digit) if digit.is_ascii_hexdigit() => {
                let digit = char::from(digit).to_digit(16).unwrap_or(0);
                let size = size.checked_mul(16).ok_or(Fault::Malformed)?;
                State::Size(size + u64::from(digit), true)
            }
            (State::Size(size, true) | State::Extension(size), b'\r') => State::SizeLineFeed(size),
            (State::Size(size, true), b';' | b' ' | b'\t') => State::Extension(size),
            (State::Extension(size), other) if other != b'\n' => State::Extension(size),
            (State::SizeLineFeed(size), b'\n') => {
                self.seen = 0;
                if size == 0 { State::Trailer(true) } else { State::Data(size) }
            }
            (State::DataReturn, b'\r') => State::DataLineFeed,
            (State::DataLineFeed, b'\n') => {
                self.seen = 0;
                State::Size(0, false)
            }
            (State::Trailer(true), b'\r') => State::Trailer(true),
            (State::Trailer(true), b'\n') => return Ok(true),
            (State::Trailer(_), other) => State::Trailer(other == b'\n'),
            _ => return Err(Fault::Malformed),
        };
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(u64, bool), Fault>) {
        let bytes = text.as_bytes();
        let whole = pieces([bytes]);
        assert_eq!(whole, expected, "{text:?} at once");
        let single = pieces(bytes.iter().map(std::slice::from_ref));
        assert_eq!(single, expected, "{text:?} byte by byte");
    }

    fn pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<(u64, bool), Fault> {
        let (mut chunked, mut body, mut ended) = (Chunked::new(), 0, false);
        for piece in pieces {
            ended |= chunked.feed(piece, &mut |data| body += data.len() as u64)?.ended;
        }
        Ok((body, ended))
    }

    #[test]
    fn chunks_are_counted() {
        check("5\r\nhello\r\n0\r\n\r\n", Ok((5, true)));
        check("A;name=value\r\n0123456789\r\n1\r\nx\r\n0\r\nExpires: never\r\n\r\n", Ok((11, true)));
        check("5\r\nhel", Ok((3, false)));
        check("0\r\n", Ok((0, false)));
    }

    #[test]
    fn what_is_not_chunked_is_refused() {
        for text in
            ["\r\n", "g\r\n", "5\nhello", "5\r\nhello!", "5\r\nhello\r\n\r\n", "11112222333344445\r\n"]
        {
            check(text, Err(Fault::Malformed));
        }
        check(&format!("1;{}", "x".repeat(2000)), Err(Fault::Malformed));
        check(&format!("0\r\n{}", "x: y\r\n".repeat(10_000)), Err(Fault::Malformed));
    }

    #[test]
    fn what_follows_is_left() {
        let progress = Chunked::new().feed(b"0\r\n\r\nHTTP/1.1", &mut |_| ()).unwrap();
        assert_eq!(progress, Progress { used: 5, ended: true });
    }
}
