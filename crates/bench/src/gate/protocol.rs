//! [`Protocol`]: what a proxy speaks.

/// What is spoken with clients; with the server behind it is always HTTP/1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Protocol {
    Http1,
    /// HTTP/1.1 over TLS.
    Tls,
    /// HTTP/2 over TLS.
    Http2,
}
