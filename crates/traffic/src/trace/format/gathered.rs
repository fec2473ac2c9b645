//! [`Gathered`]: what is known of a request from fields whose meaning is known by their names.

use units::Span;

use super::fields::{number, status};
use crate::trace::entry::{Asked, Entry, When};
use crate::trace::line_format::LineFormat;
use crate::trace::skipped::Reason;
use crate::trace::stamp::Stamp;

/// What a field is. Of several fields that are the same thing the one with the lowest rank counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A point in time.
    Time(Moment),
    /// How long the request took.
    Took(Unit),
    /// `GET /path HTTP/1.1`.
    Line,
    Method,
    /// Path and query, as they were sent.
    Target,
    /// A path whose query may be in another field.
    Path,
    Query,
    Host,
    /// The port of the host.
    Port,
    Body,
    ContentType,
    Status,
    Bytes,
}

/// What a time is the time of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Begin,
    End,
    Unknown,
}

/// What a number of is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Millis,
    Micros,
    Nanos,
}

#[derive(Debug, Default)]
pub(super) struct Gathered {
    time: Option<(Stamp, Moment)>,
    pub(super) took: Option<Span>,
    line: Ranked,
    method: Ranked,
    target: Ranked,
    path: Ranked,
    query: Ranked,
    host: Ranked,
    port: Ranked,
    body: Ranked,
    content_type: Ranked,
    status: Ranked,
    bytes: Ranked,
}

#[derive(Debug, Default)]
struct Ranked(Option<(u8, Vec<u8>)>);

impl Ranked {
    fn put(&mut self, rank: u8, text: Vec<u8>) {
        if self.0.as_ref().is_none_or(|(held, _)| rank < *held) {
            self.0 = Some((rank, text));
        }
    }

    fn take(self) -> Option<Vec<u8>> {
        self.0.map(|(_, text)| text)
    }
}

impl Gathered {
    /// Takes a field; one that is empty or `-` says nothing, except that there was no body or no request.
    pub(super) fn add(&mut self, role: Role, rank: u8, text: Vec<u8>) {
        let is_nothing = matches!(text.as_slice(), b"" | b"-");
        match role {
            Role::Body => self.body.put(rank, if is_nothing { Vec::new() } else { text }),
            Role::Line => self.line.put(rank, text),
            Role::Method => self.method.put(rank, text),
            _ if is_nothing => {}
            Role::Time(moment) => {
                if let Some(stamp) = Stamp::of_field(&text) {
                    self.add_time(stamp, moment);
                }
            }
            Role::Took(unit) => self.took = self.took.or_else(|| unit.span(&text)),
            Role::Target => self.target.put(rank, text),
            Role::Path => self.path.put(rank, text),
            Role::Query => self.query.put(rank, text),
            Role::Host => self.host.put(rank, text),
            Role::Port => self.port.put(rank, text),
            Role::ContentType => self.content_type.put(rank, text),
            Role::Status => self.status.put(rank, text),
            Role::Bytes => self.bytes.put(rank, text),
        }
    }

    /// The finest counts, as it does on a line of the common format; of two that are equally fine the one that is the
    /// time of the beginning.
    pub(super) fn add_time(&mut self, stamp: Stamp, moment: Moment) {
        self.time = Some(match self.time {
            None => (stamp, moment),
            Some((held, at)) => {
                let is_better = held.better(stamp) != held;
                let is_equal = stamp.resolution == held.resolution && stamp.certain == held.certain;
                let replaces = is_better || (is_equal && moment == Moment::Begin && at != Moment::Begin);
                if replaces { (stamp, moment) } else { (held, at) }
            }
        });
    }

    /// Says of a time of which nothing is known what it is.
    pub(super) fn unknown_time_is(&mut self, is: Moment) {
        if let Some((_, moment @ Moment::Unknown)) = &mut self.time {
            *moment = is;
        }
    }

    /// What the line says.
    pub(super) fn entry(self, format: LineFormat) -> Result<Entry, Reason> {
        let (host, port) = (self.host.take(), self.port.take());
        let asked = asked(self.method.take(), self.target.take(), self.line.take(), self.path.take(), {
            self.query.take()
        })?;
        let (stamp, moment) = self.time.ok_or(Reason::NoTime)?;
        let is_end = match moment {
            Moment::Begin => Some(false),
            Moment::End => Some(true),
            Moment::Unknown => None,
        };
        Ok(Entry {
            when: When { stamp, is_end, took: self.took },
            asked,
            host: host.map(|host| with_port(host, port)),
            body: self.body.take(),
            content_type: self.content_type.take(),
            status: self.status.take().and_then(|text| status(&text)),
            bytes: self.bytes.take().and_then(|text| number(&text)),
            last: None,
            format,
            fields: 1,
            is_open: false,
        })
    }
}

/// The request, from what is nearest to what the client sent.
fn asked(
    method: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    line: Option<Vec<u8>>,
    path: Option<Vec<u8>>,
    query: Option<Vec<u8>>,
) -> Result<Asked, Reason> {
    match (method, target, line, path) {
        (Some(method), Some(target), _, _) => Ok(Asked::Parts { method, target }),
        (_, _, Some(line), _) => Ok(Asked::Line(line)),
        (Some(method), None, None, Some(mut target)) => {
            if let Some(query) = query.filter(|_| !target.contains(&b'?')) {
                target.push(b'?');
                target.extend_from_slice(query.strip_prefix(b"?").unwrap_or(&query));
            }
            Ok(Asked::Parts { method, target })
        }
        // The client closed the connection before it asked for anything.
        (Some(method), None, None, None) if matches!(method.as_slice(), b"" | b"-") => {
            Ok(Asked::Line(Vec::new()))
        }
        _ => Err(Reason::NoFields),
    }
}

fn with_port(mut host: Vec<u8>, port: Option<Vec<u8>>) -> Vec<u8> {
    if let Some(port) = port.filter(|_| !host.contains(&b':')) {
        host.push(b':');
        host.extend_from_slice(&port);
    }
    host
}

impl Unit {
    /// So much of it; `None` for what is not a number, or negative.
    pub(super) fn span(self, text: &[u8]) -> Option<Span> {
        let number: f64 = str::from_utf8(text).ok()?.parse().ok()?;
        let seconds = match self {
            Self::Seconds => number,
            Self::Millis => number / 1e3,
            Self::Micros => number / 1e6,
            Self::Nanos => number / 1e9,
        };
        // A number of seconds above this is a date.
        (0.0..1e6).contains(&seconds).then(|| Span::from_nanos((seconds * 1e9).round() as u64))
    }
}
