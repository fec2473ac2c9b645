//! [`Framing`]: what follows the head of a request.

/// What follows the head of a request (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body.
    Nothing,
    /// A body of so many bytes, which are not 0.
    Length(u64),
    /// A body in chunks.
    Chunks,
}

impl Framing {
    /// A body of so many bytes.
    pub(super) fn length(bytes: u64) -> Self {
        if bytes == 0 { Self::Nothing } else { Self::Length(bytes) }
    }
}
