//! [`TraceRequest`]: a request of a trace, and what it asks for.

use std::fmt;
use std::sync::Arc;

use units::Span;

/// Something that is asked for, once or more often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// How.
    pub method: Method,
    /// Path and query, in printable ASCII.
    pub url: Arc<str>,
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

/// Methods that can be replayed: those of requests that are all in their first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// `GET`.
    Get,
    /// `HEAD`.
    Head,
}

impl Method {
    pub(super) const ALL: [Self; 2] = [Self::Get, Self::Head];

    /// As it is written in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the documentation says about memory.
const _: () = assert!(size_of::<TraceRequest>() == 32);
