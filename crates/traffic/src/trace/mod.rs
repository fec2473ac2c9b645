//! Traces: what was asked of a real server, and when.
//!
//! [`AccessLog`] reads the log of a Web server into a [`Trace`]: requests with their times, to
//! be replayed as they came, or faster or slower. [`Times`] are points in time alone. Logs are
//! full of things that are no requests; those are counted in [`Skipped`], and never stop a
//! reader.

mod error;
mod line;
mod log;
mod logged;
mod read;
mod skipped;
mod stamp;
mod summary;
mod target;
mod times;

use std::fmt;
use std::sync::Arc;

use units::{Rate, Span};

pub use error::Error;
pub use log::AccessLog;
pub use logged::{LastNumber, Logged};
pub use skipped::{BrokenLine, Reason, Skipped};
pub use summary::Summary;
pub use times::{Repeat, Times};

/// Requests in the order of their times.
///
/// In memory a request takes 32 bytes, and each distinct URL its length and some 100 bytes
/// besides: a hundred million lines need 3 GB, and up to twice that while they are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// What is asked for, each only once, in the order of the file.
    pub objects: Vec<Object>,
    /// At least one.
    pub requests: Vec<TraceRequest>,
    /// How long the trace takes until it can begin anew: to the end of the last second where
    /// times are whole seconds, else one mean gap longer than to the last request. Zero when all
    /// requests came at once.
    pub duration: Span,
    /// How exact its times are.
    pub resolution: Resolution,
    /// What in the file is not in the trace.
    pub skipped: Skipped,
}

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
    /// For what: an index into [`Trace::objects`].
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
    const ALL: [Self; 2] = [Self::Get, Self::Head];

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

/// How exactly points in time are written; that of a file is that of its coarsest line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resolution {
    /// Whole seconds.
    Seconds,
    /// Tenths to thousandths.
    Millis,
    /// Microseconds or finer.
    Micros,
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seconds => "seconds",
            Self::Millis => "milliseconds",
            Self::Micros => "microseconds",
        })
    }
}

/// What the documentation says about memory.
const _: () = assert!(size_of::<TraceRequest>() == 32);

impl Trace {
    /// Requests per second over the whole trace; `None` when all came at once.
    pub fn rate(&self) -> Option<Rate> {
        times::rate(self.requests.len(), self.duration)
    }

    /// The times alone, to be scaled, and repeated; the n-th belongs to the n-th request.
    pub fn times(&self) -> Times {
        Times::new(self.requests.iter().map(|request| request.at).collect(), self.duration)
    }
}
