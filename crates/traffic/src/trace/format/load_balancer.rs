//! Load balancers: AWS's, classic and for applications, and HAProxy.

use units::Span;

use super::fields::{Field, Fields};
use super::gathered::Unit;
use crate::trace::entry::{Asked, Entry, When};
use crate::trace::line_format::LineFormat;
use crate::trace::skipped::Reason;
use crate::trace::stamp::Stamp;
use crate::trace::target::unescaped;

/// What kinds of requests an application load balancer tells apart.
const KINDS: [&[u8]; 6] = [b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"];

/// How far behind the request of a load balancer for applications is when it came; the time at the front is that of the
/// response.
const CREATED: usize = 9;

/// Reads a line if it is of one of these.
pub(super) fn read(fields: &Fields<'_>) -> Option<Result<Entry, Reason>> {
    if is_alb(fields) {
        return Some(alb(fields));
    }
    if is_elb(fields) {
        return Some(elb(fields));
    }
    timers(fields).map(|timers| haproxy(fields, timers))
}

pub(super) fn alb(fields: &Fields<'_>) -> Result<Entry, Reason> {
    let request = request_of_aws(fields)?;
    let created = fields.word(request + CREATED).and_then(Stamp::of_log);
    let answered = || fields.word(1).and_then(Stamp::of_log);
    let is_end = created.is_none();
    let stamp = created.or_else(answered).ok_or(Reason::NoTime)?;
    of_aws(
        fields,
        request,
        When { stamp, is_end: Some(is_end), took: took(fields, request) },
        LineFormat::Alb,
    )
}

/// The time of a classic load balancer's line is when it had the request.
pub(super) fn elb(fields: &Fields<'_>) -> Result<Entry, Reason> {
    let request = request_of_aws(fields)?;
    let stamp = fields.word(0).and_then(Stamp::of_log).ok_or(Reason::NoTime)?;
    of_aws(fields, request, When { stamp, is_end: Some(false), took: took(fields, request) }, LineFormat::Elb)
}

/// Before the request there are three times, two statuses and two sizes.
const BEFORE: usize = 7;

/// The first quote; what is before it may be split in brackets.
fn request_of_aws(fields: &Fields<'_>) -> Result<usize, Reason> {
    let request = fields.list.iter().position(|field| matches!(field, Field::Quoted(_)));
    match request.filter(|request| *request > BEFORE) {
        Some(request) if !fields.is_open || request + 1 < fields.list.len() => Ok(request),
        Some(_) => Err(Reason::Cut),
        None => Err(Reason::NoRequest),
    }
}

fn of_aws(fields: &Fields<'_>, request: usize, when: When, format: LineFormat) -> Result<Entry, Reason> {
    let Some(Field::Quoted(line)) = fields.list.get(request) else { return Err(Reason::NoRequest) };
    // `- http://host:80- ` is what came without a request.
    let line = if line.starts_with(b"- ") { b"-" } else { *line };
    Ok(Entry {
        asked: Asked::Line(unescaped(line)),
        status: fields.list.get(request - 4).and_then(Field::status),
        bytes: fields.list.get(request - 1).and_then(Field::number),
        format,
        fields: fields.list.len() - request,
        is_open: fields.is_open,
        when,
        ..Entry::time(when.stamp)
    })
}

/// The request's way in, the server's time and the response's way out; -1 where there was no server.
fn took(fields: &Fields<'_>, request: usize) -> Option<Span> {
    let first = request - BEFORE;
    (first..first + 3).map(|index| Unit::Seconds.span(fields.word(index)?)).sum()
}

fn is_alb(fields: &Fields<'_>) -> bool {
    fields.word(0).is_some_and(|kind| KINDS.contains(&kind)) && is_date(fields, 1)
}

fn is_elb(fields: &Fields<'_>) -> bool {
    let is_time = |text: &[u8]| text.contains(&b'.') || text == b"-1";
    let has_times = |request: usize| {
        (request - BEFORE..request - BEFORE + 3).all(|index| fields.word(index).is_some_and(is_time))
    };
    is_date(fields, 0) && request_of_aws(fields).is_ok_and(has_times)
}

fn is_date(fields: &Fields<'_>, index: usize) -> bool {
    fields.word(index).is_some_and(|text| text.contains(&b'T') && Stamp::of_log(text).is_some())
}

/// Where HAProxy's timers are, `TR/Tw/Tc/Tr/Ta`: three fields behind the time.
fn timers(fields: &Fields<'_>) -> Option<usize> {
    let is_time = |index: usize| matches!(fields.list.get(index), Some(Field::Bracketed(_)));
    (3..fields.list.len()).find(|at| fields.word(*at).is_some_and(is_timers) && is_time(at - 3))
}

fn is_timers(text: &[u8]) -> bool {
    let is_timer = |part: &[u8]| {
        let digits = part.strip_prefix(b"-").or_else(|| part.strip_prefix(b"+")).unwrap_or(part);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    let mut parts = text.split(|byte| *byte == b'/');
    (0..5).all(|_| parts.next().is_some_and(is_timer)) && parts.next().is_none()
}

/// HAProxy's HTTP log format, whatever is before its time: its time is when the request came.
fn haproxy(fields: &Fields<'_>, timers: usize) -> Result<Entry, Reason> {
    let stamp = fields.list.get(timers - 3).and_then(Field::stamp).ok_or(Reason::NoTime)?;
    let request = fields.list.iter().rposition(|field| matches!(field, Field::Quoted(_)));
    let request = request.filter(|request| *request > timers).ok_or(Reason::NoRequest)?;
    let Some(Field::Quoted(line)) = fields.list.get(request) else { return Err(Reason::NoRequest) };
    if fields.is_open {
        return Err(Reason::Cut);
    }
    let total = fields.word(timers).and_then(|text| text.rsplit(|byte| *byte == b'/').next());
    let total = total.map(|total| total.strip_prefix(b"+").unwrap_or(total));
    let when = When { stamp, is_end: Some(false), took: total.and_then(|total| Unit::Millis.span(total)) };
    Ok(Entry {
        asked: Asked::Line(unescaped(line)),
        status: fields.list.get(timers + 1).and_then(Field::status),
        bytes: fields.list.get(timers + 2).and_then(Field::number),
        format: LineFormat::Haproxy,
        fields: fields.list.len() - request,
        when,
        ..Entry::time(stamp)
    })
}

/// Reads a line that is said to be HAProxy's.
pub(super) fn haproxy_line(fields: &Fields<'_>) -> Result<Entry, Reason> {
    timers(fields).map_or(Err(Reason::OtherFormat), |timers| haproxy(fields, timers))
}
