//! One line of an access log.

use units::Span;

use super::logged::{LastNumber, Logged};
use super::request::Method;
use super::resolution::Resolution;
use super::skipped::Reason;
use super::stamp::Stamp;
use super::target::{RequestLine, request_line};

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) stamp: Stamp,
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) status: Option<u16>,
    pub(super) bytes: Option<u64>,
}

/// Reads a line whose fields are as in the common log format or thereabouts: somewhere a time,
/// then a request in quotes, status and bytes after it. `Ok(None)` for a method that cannot be
/// replayed.
pub(super) fn line(text: &[u8]) -> Result<Option<Line>, Reason> {
    let fields: Vec<Field<'_>> = Fields(text).collect();
    let request = request_at(&fields).ok_or(Reason::NoRequest)?;
    let stamp = finest(&fields, request).ok_or(Reason::NoTime)?;
    let Some(Field::Quoted(logged)) = fields.get(request) else { return Err(Reason::NoRequest) };
    match request_line(logged)? {
        RequestLine::OtherMethod => Ok(None),
        RequestLine::Replayable(method, url) => Ok(Some(Line {
            stamp,
            method,
            url,
            status: fields.get(request + 1).and_then(Field::status),
            bytes: fields.get(request + 2).and_then(Field::number),
        })),
    }
}

/// Reads a line whatever the method of its request.
pub(super) fn logged(text: &[u8]) -> Result<Logged, Reason> {
    let fields: Vec<Field<'_>> = Fields(text).collect();
    let request = request_at(&fields).ok_or(Reason::NoRequest)?;
    let stamp = finest(&fields, request).ok_or(Reason::NoTime)?;
    let Some(Field::Quoted(logged)) = fields.get(request) else { return Err(Reason::NoRequest) };
    let url = match request_line(logged)? {
        RequestLine::OtherMethod => None,
        RequestLine::Replayable(_, url) => Some(url),
    };
    Ok(Logged {
        at: Span::from_nanos(stamp.ns),
        resolution: stamp.resolution,
        url,
        status: fields.get(request + 1).and_then(Field::status),
        bytes: fields.get(request + 2).and_then(Field::number),
        last: fields.get(request + 3..).and_then(|rest| rest.last()).and_then(Field::last_number),
    })
}

/// The time of a line, whatever else is on it.
pub(super) fn time(text: &[u8]) -> Option<Stamp> {
    let fields: Vec<Field<'_>> = Fields(text).collect();
    finest(&fields, request_at(&fields).unwrap_or(fields.len()))
}

/// A format may have several times, such as the usual one and a finer one behind the user agent.
fn finest(fields: &[Field<'_>], request: usize) -> Option<Stamp> {
    let (before, after) = fields.split_at_checked(request)?;
    // Behind the request a whole number of ten digits is a size.
    let is_time = |stamp: &Stamp| stamp.certain || stamp.resolution > Resolution::Seconds;
    let after = after.iter().filter_map(Field::stamp).filter(is_time);
    before.iter().filter_map(Field::stamp).chain(after).reduce(Stamp::better)
}

/// The request is what has a status behind it: a format may quote other things before it.
fn request_at(fields: &[Field<'_>]) -> Option<usize> {
    let with_status =
        fields.windows(2).position(|two| matches!(two, [Field::Quoted(_), next] if next.status().is_some()));
    with_status.or_else(|| fields.iter().position(|field| matches!(field, Field::Quoted(_))))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field<'a> {
    /// Between double quotes; escapes are left as they are.
    Quoted(&'a [u8]),
    /// Between brackets.
    Bracketed(&'a [u8]),
    Word(&'a [u8]),
}

impl Field<'_> {
    fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::Quoted(_) => None,
            Self::Bracketed(text) | Self::Word(text) => Stamp::of_log(text),
        }
    }

    /// A status as HTTP has them. nginx writes 000 where there was none.
    fn status(&self) -> Option<u16> {
        self.number()
            .filter(|_| matches!(self, Self::Word([_, _, _])))
            .and_then(|status| u16::try_from(status).ok())
            .filter(|status| *status >= 100)
    }

    fn number(&self) -> Option<u64> {
        let Self::Word(text) = self else { return None };
        str::from_utf8(text).ok()?.parse().ok()
    }

    /// Digits with a point among them or without, and a name before them or none, as in `rt=0.005`.
    fn last_number(&self) -> Option<LastNumber> {
        let Self::Word(text) = self else { return None };
        let text = str::from_utf8(text).ok()?;
        let number = text.rsplit_once('=').map_or(text, |(_, number)| number);
        if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return None;
        }
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some(LastNumber { value: number.parse().ok()?, decimals })
    }
}

/// Fields are separated by blanks.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let text = self.0.trim_ascii_start();
        let (&first, inside) = text.split_first()?;
        let (field, rest) = match first {
            b'"' => split(inside, quote(inside), Field::Quoted),
            b'[' => split(inside, inside.iter().position(|byte| *byte == b']'), Field::Bracketed),
            _ => split(text, text.iter().position(u8::is_ascii_whitespace), Field::Word),
        };
        self.0 = rest;
        Some(field)
    }
}

/// Cuts at `end`, which is not part of either side; without an end the field takes all.
fn split<'a>(text: &'a [u8], end: Option<usize>, field: fn(&'a [u8]) -> Field<'a>) -> (Field<'a>, &'a [u8]) {
    let end = end.unwrap_or(text.len());
    (field(text.get(..end).unwrap_or(text)), text.get(end + 1..).unwrap_or(&[]))
}

/// Where the closing quote is.
fn quote(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const OCTOBER: u64 = 971_211_336 * SECOND;

    #[track_caller]
    fn check(text: &str, ns: u64, url: &str, status: Option<u16>, bytes: Option<u64>) {
        let line = line(text.as_bytes()).unwrap().unwrap();
        assert_eq!(
            (line.stamp.ns, line.url.as_str(), line.status, line.bytes),
            (ns, url, status, bytes),
            "{text}"
        );
    }

    #[test]
    fn usual_formats_are_read() {
        let common = r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326"#;
        check(common, OCTOBER, "/a.gif", Some(200), Some(2326));
        check(
            &format!(r#"{common} "http://example.org/" "Mozilla/5.0 (X; \"Y\")""#),
            OCTOBER,
            "/a.gif",
            Some(200),
            Some(2326),
        );
        check(&format!("www.example.org:80 {common} 0.005"), OCTOBER, "/a.gif", Some(200), Some(2326));
        let v6 = r#"2001:db8::1 - - [10/Oct/2000:13:55:36.250 -0700] "HEAD / HTTP/1.1" 304 -"#;
        check(v6, OCTOBER + SECOND / 4, "/", Some(304), None);
        let quoted = r#"[::1] "proxy, other" - [2000-10-10T20:55:36Z] "GET /x?y=\"z\" HTTP/1.1" 499 0"#;
        check(quoted, OCTOBER, "/x?y=%22z%22", Some(499), Some(0));
        let nginx = r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 000 9713372036 "-" "-" 971211336.123 0.010"#;
        check(nginx, OCTOBER + SECOND * 123 / 1000, "/", None, Some(9_713_372_036));
        check(r#"971211336.5 10.0.0.1 "GET / HTTP/1.1" 200"#, OCTOBER + SECOND / 2, "/", Some(200), None);
        check(r#"10.0.0.1 "GET /" 971211336.5"#, OCTOBER + SECOND / 2, "/", None, None);
        check(
            r#"971211336123456 10.0.0.1 "GET / HTTP/1.1" 200 9"#,
            OCTOBER + 123_456_000,
            "/",
            Some(200),
            Some(9),
        );
        check(r#"971211336 10.0.0.1 "GET / HTTP/1.1" 200 9"#, OCTOBER, "/", Some(200), Some(9));
    }

    #[test]
    fn a_user_with_blanks_or_quotes_does_no_harm() {
        let user = r#"10.0.0.1 - jean \"le fou\" [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 9"#;
        check(user, OCTOBER, "/", Some(200), Some(9));
    }

    #[test]
    fn what_is_wrong_has_a_reason() {
        let with =
            |request: &str| format!(r#"::1 - - [10/Oct/2000:13:55:36 -0700] "{request}" 408 0 "-" "-""#);
        let reason = |text: &str| line(text.as_bytes()).err();
        assert_eq!(line(with("POST / HTTP/1.1").as_bytes()), Ok(None));
        assert_eq!(reason(&with("-")), Some(Reason::Empty));
        assert_eq!(reason(&with("")), Some(Reason::Empty));
        assert_eq!(reason(&with(r"\x16\x03\x01")), Some(Reason::BadRequest));
        assert_eq!(reason("::1 - - [10/Oct/2000:13:55:36 -0700]"), Some(Reason::NoRequest));
        assert_eq!(reason(r#"::1 - - [yesterday] "GET / HTTP/1.1" 200 1"#), Some(Reason::NoTime));
        assert_eq!(reason(r#"::1 - - [] "GET / HTTP/1.1" 200 1700000000"#), Some(Reason::NoTime));
        assert_eq!(reason(r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GE"#), Some(Reason::BadRequest));
        assert_eq!(reason(""), Some(Reason::NoRequest));
    }
}
