//! [`Delay`]: a response whose times are known before it is measured.

use units::Span;

use crate::limits::{MAX_BODY, MAX_DELAY, MAX_PIECES};

/// Said of a query that asks for something else.
pub(crate) const EXPECTED: &str = "/delay?before=50ms&bytes=10000&pieces=5&between=10ms waits 50 ms, then sends 10000 bytes in 5 equal parts 10 ms apart;
before + (pieces - 1) * between is at most 60s, bytes at most 1073741824, pieces from 1 to 10000 and no more than bytes
";

/// What `/delay` was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delay {
    /// From the request's arrival to the first byte of the response.
    pub(crate) before: Span,
    /// The length of the body.
    pub(crate) bytes: u64,
    /// How the body is sent.
    pub(crate) pace: Pace,
}

/// How a body is sent: in `pieces` equal parts, each `between` after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    pub(crate) pieces: u64,
    pub(crate) between: Span,
}

impl Pace {
    /// All of it as fast as it goes.
    pub(crate) const AT_ONCE: Self = Self { pieces: 1, between: Span::ZERO };
}

impl Delay {
    /// Reads a query. Other parameters are let pass: clients add them to tell requests apart.
    pub(crate) fn parse(query: &str) -> Option<Self> {
        let mut delay = Self { before: Span::ZERO, bytes: 0, pace: Pace::AT_ONCE };
        for parameter in query.split('&') {
            match parameter.split_once('=') {
                Some(("before", before)) => delay.before = before.parse().ok()?,
                Some(("bytes", bytes)) => delay.bytes = bytes.parse().ok()?,
                Some(("pieces", pieces)) => delay.pace.pieces = pieces.parse().ok()?,
                Some(("between", between)) => delay.pace.between = between.parse().ok()?,
                _ => {}
            }
        }
        delay.is_allowed().then_some(delay)
    }

    fn is_allowed(&self) -> bool {
        let Pace { pieces, between } = self.pace;
        (1..=MAX_PIECES).contains(&pieces)
            && pieces <= self.bytes.max(1)
            && self.bytes <= MAX_BODY
            && self.before + between * (pieces - 1) <= MAX_DELAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_say_how_long_and_how_much() {
        let delay = |before, bytes, pieces, between| {
            let (before, between) = (Span::from_millis(before), Span::from_millis(between));
            Some(Delay { before, bytes, pace: Pace { pieces, between } })
        };
        for (query, expected) in [
            ("", delay(0, 0, 1, 0)),
            ("before=50ms&bytes=10000&pieces=5&between=10ms", delay(50, 10_000, 5, 10)),
            ("x=1&between=1s&before=1.5s", delay(1500, 0, 1, 1000)),
            ("bytes=10000&pieces=10000&between=6ms", delay(0, 10_000, 10_000, 6)),
            ("before=60s", delay(60_000, 0, 1, 0)),
        ] {
            assert_eq!(Delay::parse(query), expected, "{query}");
        }
    }

    #[test]
    fn what_would_hold_a_worker_for_ever_is_refused() {
        for query in [
            "before=soon",
            "before=61s",
            "before=30s&bytes=7&pieces=7&between=6s",
            "bytes=2&pieces=2&between=99999999h",
            "bytes=1073741825",
            "bytes=-1",
            "pieces=0",
            "pieces=2",
            "bytes=20000&pieces=10001",
        ] {
            assert_eq!(Delay::parse(query), None, "{query}");
        }
    }
}
