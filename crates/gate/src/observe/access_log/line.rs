//! [`LogLine`]: the line of JSON that an [`Entry`] becomes. docs/gate.md lists its fields.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use http::{StatusCode, Version};
use serde::{Serialize, Serializer};
use units::{Span, Time};

use crate::admission::decision::Basis;
use crate::observe::access_log::entry::Entry;

#[derive(Debug, Serialize)]
pub(crate) struct LogLine<'a> {
    pub(crate) time: Stamp,
    pub(crate) client: IpAddr,
    pub(crate) method: &'a str,
    pub(crate) host: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) protocol: &'static str,
    pub(crate) status: Option<u16>,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) class: Option<&'a str>,
    pub(crate) rule: Option<Rule>,
    pub(crate) session: &'static str,
    pub(crate) session_id: Option<Id>,
    pub(crate) decision: &'static str,
    pub(crate) reason: Option<&'static str>,
    pub(crate) upstream: Option<SocketAddr>,
    pub(crate) failure: Option<&'static str>,
    pub(crate) complete: bool,
    pub(crate) times: Stages,
}

/// RFC 3339, to the microsecond.
#[derive(Debug)]
pub(crate) struct Stamp(jiff::Timestamp);

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.6}", self.0))
    }
}

/// As in the admin interface: sixteen hexadecimal digits.
#[derive(Debug)]
pub(crate) struct Id(u64);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

/// As in the headers of explain mode.
#[derive(Debug)]
pub(crate) struct Rule(Basis);

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Seconds in each stage, in the order in which a request meets them, and what passes between them: together they are the total,
/// but for what is rounded.
#[derive(Debug, Serialize)]
pub(crate) struct Stages {
    pub(crate) body: f64,
    pub(crate) acceptor: f64,
    pub(crate) pending: f64,
    pub(crate) discard: f64,
    pub(crate) class: f64,
    /// The gate's own: until the policy is asked, and until its decision is carried out.
    pub(crate) overhead: f64,
    pub(crate) server: f64,
    pub(crate) transfer: f64,
    pub(crate) total: f64,
}

impl<'a> LogLine<'a> {
    /// `offset` is what the wall clock is ahead of the gate's clock, in nanoseconds.
    pub(crate) fn new(entry: &'a Entry, classes: &'a [String], offset: i128) -> Self {
        let details = entry.details.as_ref();
        let refused = details.and_then(|details| details.refused);
        let class = details.and_then(|details| details.class);
        Self {
            time: Stamp(wall(entry.times.began, offset)),
            client: entry.client.to_canonical(),
            method: entry.method.as_str(),
            host: entry.host.as_deref(),
            path: &entry.path,
            protocol: protocol(entry.version),
            status: entry.status.as_ref().map(StatusCode::as_u16),
            bytes_in: entry.bytes_in,
            bytes_out: entry.bytes_out,
            class: class.and_then(|class| classes.get(class.index())).map(String::as_str),
            rule: class.and(details).map(|details| Rule(details.basis)),
            session: match entry.session {
                Some(visitor) if visitor.known => "known",
                Some(_) => "new",
                None => "none",
            },
            session_id: entry.session.map(|visitor| Id(visitor.id.0)),
            decision: match (details, refused, entry.status) {
                (Some(_), Some(_), _) => "refused",
                (Some(_), None, _) => "dispatched",
                (None, _, Some(_)) => "invalid",
                (None, _, None) => "aborted",
            },
            reason: refused.map(policy::Reason::name).or(entry.malformed).or(entry.cut),
            upstream: entry.upstream,
            failure: entry.failure,
            complete: entry.complete,
            times: Stages::of(entry),
        }
    }
}

impl Stages {
    fn of(entry: &Entry) -> Self {
        let times = &entry.times;
        let waits = entry.details.map_or(policy::Waits::ZERO, |details| details.waits);
        let seconds = |from: Time, to: Time| rounded(to.since(from));
        Self {
            body: seconds(times.began, times.arrived),
            acceptor: rounded(waits.acceptor),
            pending: rounded(waits.pending),
            discard: rounded(waits.discard),
            class: rounded(waits.class),
            overhead: rounded(times.decided.since(times.arrived).saturating_sub(waits.total())),
            server: seconds(times.decided, times.answered),
            transfer: seconds(times.answered, times.ended),
            total: seconds(times.began, times.ended),
        }
    }
}

/// To the microsecond: more would be digits without a meaning.
fn rounded(span: Span) -> f64 {
    (span.as_nanos() / 1000) as f64 / 1e6
}

fn wall(time: Time, offset: i128) -> jiff::Timestamp {
    let micros = (i128::from(time.as_nanos()) + offset) / 1000;
    i64::try_from(micros)
        .ok()
        .and_then(|micros| jiff::Timestamp::from_microsecond(micros).ok())
        .unwrap_or_default()
}

fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}
