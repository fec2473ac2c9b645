//! [`TraceRequest`]: a request of a trace, and what it asks for.

use std::fmt;
use std::sync::Arc;

use units::Span;

/// Something that is asked for, once or more often.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Object {
    /// How.
    pub method: Method,
    /// Path and query, in printable ASCII.
    pub url: Arc<str>,
    /// Which of the server's names, with its port unless that is the usual one; `None` where the log does not say.
    pub host: Option<Arc<str>>,
    /// What is sent with it, where the log has that.
    pub body: Option<Arc<Body>>,
}

/// What is sent with a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Body {
    /// What the log says that it is, or what it looks like.
    pub content_type: Box<str>,
    /// It.
    pub bytes: Box<[u8]>,
}

/// A request of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRequest {
    /// When, from the first of the trace.
    pub at: Span,
    /// For what: an index into [`Trace::objects`](super::Trace::objects).
    pub object: u32,
    /// What the server answered.
    pub status: Option<u16>,
    /// How many bytes it sent, as it counts them: Apache's `%b` and nginx's `$body_bytes_sent`
    /// are without the header fields.
    pub bytes: Option<u64>,
}

/// Methods that can be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// `GET`.
    Get,
    /// `HEAD`.
    Head,
    /// `OPTIONS`.
    Options,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `DELETE`.
    Delete,
}

impl Method {
    const ALL: [Self; 7] =
        [Self::Get, Self::Head, Self::Options, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// The method that is written so, if it can be replayed.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str().as_bytes() == name)
    }

    /// As it is written in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether a request is no more than a question (RFC 9110, section 9.2.1).
    pub(super) const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the documentation says about memory.
const _: () = assert!(size_of::<TraceRequest>() == 32);
