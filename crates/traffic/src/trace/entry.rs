//! [`Entry`]: what a line of a log says, in whatever format.

use units::Span;

use super::line_format::LineFormat;
use super::logged::LastNumber;
use super::resolution::Resolution;
use super::stamp::Stamp;

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) when: When,
    pub(super) asked: Asked,
    /// Which of the server's names was asked for.
    pub(super) host: Option<Vec<u8>>,
    /// What was sent with the request, where the format has a field for it; empty for nothing.
    pub(super) body: Option<Vec<u8>>,
    pub(super) content_type: Option<Vec<u8>>,
    pub(super) status: Option<u16>,
    pub(super) bytes: Option<u64>,
    /// The number at the end, in formats that do not say what it is.
    pub(super) last: Option<LastNumber>,
    pub(super) format: LineFormat,
    /// How many fields there are behind the request.
    pub(super) fields: usize,
    /// Whether the line could go on: a quote is not closed, or what was asked for is the last on it.
    pub(super) is_open: bool,
}

/// A request as a log has it, without the escapes of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// `GET /path HTTP/1.1`.
    Line(Vec<u8>),
    /// In fields of their own.
    Parts { method: Vec<u8>, target: Vec<u8> },
}

/// When a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct When {
    /// As it is written.
    pub(super) stamp: Stamp,
    /// Whether that is the end of the request; `None` where the format does not say.
    pub(super) is_end: Option<bool>,
    /// How long the request took, where the format says that it says that.
    pub(super) took: Option<Span>,
}

const SECOND_NS: u64 = 1_000_000_000;

impl When {
    /// A time of which nothing else is known.
    pub(super) const fn at(stamp: Stamp) -> Self {
        Self { stamp, is_end: None, took: None }
    }

    /// When the request came, as far as that can be known.
    pub(super) fn began(self) -> Span {
        let ns = self.stamp.ns;
        let Some(took) = self.took.filter(|_| self.is_end == Some(true)) else { return Span::from_nanos(ns) };
        let took = took.as_nanos();
        if self.stamp.resolution > Resolution::Seconds {
            return Span::from_nanos(ns.saturating_sub(took));
        }
        // A whole second is somewhere in that second, and remains whole.
        let middle = (ns + SECOND_NS / 2).saturating_sub(took);
        Span::from_nanos(middle - middle % SECOND_NS)
    }
}

impl Entry {
    /// A time and nothing else.
    pub(super) const fn time(stamp: Stamp) -> Self {
        Self {
            when: When::at(stamp),
            asked: Asked::Line(Vec::new()),
            host: None,
            body: None,
            content_type: None,
            status: None,
            bytes: None,
            last: None,
            format: LineFormat::Common,
            fields: 0,
            is_open: false,
        }
    }
}
