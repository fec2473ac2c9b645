//! [`Malformed`]: what is wrong with a response.

use crate::chunks::Fault;

/// What is wrong with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Its status line or a header line is not by the grammar of RFC 9112.
    #[error("it is not HTTP: {0}")]
    Syntax(httparse::Error),
    /// Below 100.
    #[error("its status is not a valid one")]
    Status,
    /// A name or a value that `http` does not take.
    #[error("a header line is not HTTP")]
    Field,
    /// LF alone (RFC 9112 section 2.2).
    #[error("a line of its head does not end with CR LF")]
    LineEnd,
    /// Longer than [`Limits::head`](super::Limits::head).
    #[error("its head is larger than max-head allows")]
    Size,
    /// More header lines than [`Limits::fields`](super::Limits::fields).
    #[error("it has more header lines than max-fields allows")]
    Fields,
    /// Interim responses, and never the one that is asked for.
    #[error("there is no end of interim responses")]
    Interim,
    /// A length that cannot be read, or lengths that differ (RFC 9112 section 6.3).
    #[error("its length is not a number, or there are several")]
    Length,
    /// A length and chunks (RFC 9112 section 6.3).
    #[error("it has a length beside its transfer coding")]
    Contradiction,
    /// Not chunks, or from HTTP/1.0 (RFC 9112 section 6.1).
    #[error("it has a transfer coding that was not asked for")]
    Coding,
    /// Not chunks where they should be.
    #[error("its body is not framed as it says")]
    Chunk,
    /// Trailers that are malformed or too large.
    #[error("its trailers are not HTTP, or do not end")]
    Trailers,
}

impl From<Fault> for Malformed {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Chunk | Fault::LineSize => Self::Chunk,
            Fault::Trailer | Fault::TrailerSize => Self::Trailers,
        }
    }
}
