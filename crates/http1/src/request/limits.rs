//! [`Limits`]: how much of what a request may have.

use crate::chunks::{Rules, SizeLines, TrailerNames};

/// How much of what a request may have; in bytes, but for `fields`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The request line and all header lines.
    pub head: usize,
    /// The target of the request.
    pub target: usize,
    /// One header line.
    pub field: usize,
    /// Header lines, and again of trailers.
    pub fields: usize,
    /// All trailers.
    pub trailers: usize,
    /// What stands before a chunk: its length and extensions.
    pub chunk_line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: 32 * 1024,
            target: 8 * 1024,
            field: 16 * 1024,
            fields: 100,
            trailers: 4 * 1024,
            chunk_line: 256,
        }
    }
}

impl Limits {
    /// How a body of chunks is read.
    pub(super) fn chunks(&self) -> Rules {
        Rules {
            max_line: self.chunk_line,
            max_trailers: self.trailers,
            max_trailer_lines: self.fields,
            lines: SizeLines::Strict,
            trailers: TrailerNames::Harmless,
        }
    }
}
