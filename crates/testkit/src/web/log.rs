//! [`LogLine`]: one request as the server saw it.

use std::time::Duration;

/// One line of an access log. Both servers write the same fields in the same order:
///
/// `TIME STATUS BODY_BYTES REQUEST_BYTES CONNECTION CONNECTION_REQUESTS "REQUEST"`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When the response had been sent, since 1970; to the millisecond (nginx) or microsecond.
    pub time: Duration,
    /// The status of the response. nginx has one that is never sent: 499, the client left before.
    pub status: u16,
    /// Bytes of the body that were sent.
    pub body_bytes: u64,
    /// Bytes of the request, line, headers and body.
    pub request_bytes: u64,
    /// nginx: the connection's serial number. Apache: the client's port, which a later
    /// connection may have again.
    pub connection: u64,
    /// Requests that this connection had brought, this one included. Apache counts those after
    /// which the connection stays open: the last of several has the number of the one before.
    pub connection_requests: u64,
    /// The request line, with the escapes of the server; empty or `-` when none came.
    pub request: String,
}

impl LogLine {
    /// Reads a whole log.
    #[track_caller]
    pub(super) fn read(text: &str) -> Vec<Self> {
        let read = |line: &str| Self::parse(line).unwrap_or_else(|| panic!("an access log with {line:?}"));
        text.lines().map(read).collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(7, ' ');
        let mut next = || fields.next();
        Some(Self {
            time: time(next()?)?,
            status: next()?.parse().ok()?,
            body_bytes: next()?.parse().ok()?,
            request_bytes: next()?.parse().ok()?,
            connection: next()?.parse().ok()?,
            connection_requests: next()?.parse().ok()?,
            request: next()?.strip_prefix('"')?.strip_suffix('"')?.to_owned(),
        })
    }
}

/// Seconds with decimals, exactly: a float has no room for microseconds since 1970.
fn time(text: &str) -> Option<Duration> {
    let (seconds, decimals) = text.split_once('.')?;
    Some(Duration::new(seconds.parse().ok()?, format!("{decimals:0<9}").parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_to_its_end() {
        let lines = LogLine::read("1700000000.000251 200 1024 78 7 2 \"GET /a b\\x22 HTTP/1.1\"\n");
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert_eq!(line.time, Duration::from_micros(1_700_000_000_000_251));
        assert_eq!((line.status, line.body_bytes, line.request_bytes), (200, 1024, 78));
        assert_eq!((line.connection, line.connection_requests), (7, 2));
        assert_eq!(line.request, "GET /a b\\x22 HTTP/1.1");
    }

    #[test]
    #[should_panic(expected = "an access log with")]
    fn half_a_line_is_no_line() {
        LogLine::read("1700000000.000251 200 1024");
    }
}
