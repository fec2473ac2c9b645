//! [`Filler`]: bodies of any length from one block of memory.

/// Long enough that a write of one block keeps a socket busy.
const BLOCK_BYTES: usize = 64 * 1024;

static BLOCK: [u8; BLOCK_BYTES] = lines_of_text();

const fn lines_of_text() -> [u8; BLOCK_BYTES] {
    let line = *b"Water is drawn off above the weir and measured before the gate.\n";
    let mut block = [0; BLOCK_BYTES];
    let mut at = 0;
    while at < BLOCK_BYTES {
        block[at] = line[at % line.len()];
        at += 1;
    }
    block
}

/// A body of which a part is still to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filler {
    sent: u64,
    length: u64,
}

impl Filler {
    pub(crate) const fn new(length: u64) -> Self {
        Self { sent: 0, length }
    }

    /// Bytes still to be sent.
    pub(crate) const fn left(&self) -> u64 {
        self.length - self.sent
    }

    /// The next bytes to send; empty when the body is complete.
    pub(crate) fn next(&self) -> &'static [u8] {
        // Both fit: the offset is below the block's length, the rest is cut to it.
        let offset = (self.sent % BLOCK_BYTES as u64) as usize;
        let rest = self.left().min(BLOCK_BYTES as u64) as usize;
        BLOCK.get(offset..).map_or(&[], |block| block.get(..rest).unwrap_or(block))
    }

    /// Counts `count` bytes of [`Self::next`] as sent.
    pub(crate) fn advance(&mut self, count: usize) {
        self.sent = self.length.min(self.sent + count as u64);
    }

    /// Appends the body's beginning to `output`, up to `limit` bytes, and counts it as sent.
    pub(crate) fn move_into(&mut self, output: &mut Vec<u8>, limit: usize) {
        let next = self.next();
        let piece = next.get(..limit).unwrap_or(next);
        output.extend_from_slice(piece);
        self.advance(piece.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size_make_the_same_body() {
        let whole = |mut filler: Filler, step: usize| {
            let mut body = Vec::new();
            while !filler.next().is_empty() {
                filler.move_into(&mut body, step);
            }
            body
        };
        let length = 200_000;
        let body = whole(Filler::new(length), usize::MAX);
        assert_eq!(body.len() as u64, length);
        assert_eq!(whole(Filler::new(length), 777), body);
        assert!(body.starts_with(b"Water"));
    }
}
