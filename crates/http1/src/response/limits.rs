//! [`Limits`]: how much of what the head of a response may have.

/// How much of what the head of a response may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the status line and all header lines.
    pub head: usize,
    /// Header lines.
    pub fields: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head: 256 * 1024, fields: 500 }
    }
}
