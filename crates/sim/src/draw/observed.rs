//! [`Observed`]: arrivals as they were.

use std::fmt::Write as _;
use std::sync::Arc;

use units::Span;

/// Times between requests, and, where that is known, of which kind each was.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Shape: one length per gap, of mean 1.
    pub(crate) gaps: Arc<[f64]>,
    /// Whether the request that comes after each gap is dynamic. Shape: as `gaps`.
    pub(crate) dynamic: Option<Arc<[bool]>>,
}

/// Why times make no gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("observed arrivals need at least two different points in time")]
pub struct NoGaps;

/// Arrivals of times alone: in a file with a time on each line, or of an access log.
pub(super) const TIMES: &str = "trace:";
/// Of an access log, with which requests were dynamic.
pub(super) const REQUESTS: &str = "log:";

impl Observed {
    /// The gaps between `times`, which are in order, in any unit.
    ///
    /// # Errors
    /// [`NoGaps`] when there are no two different times.
    pub fn new(times: &[f64]) -> Result<Self, NoGaps> {
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = stats::mean(gaps.iter().copied()).unwrap_or(0.0);
        if mean.is_nan() || mean <= 0.0 || gaps.iter().any(|gap| *gap < 0.0) {
            return Err(NoGaps);
        }
        Ok(Self { gaps: gaps.iter().map(|gap| gap / mean).collect(), dynamic: None })
    }

    /// These, of requests of which each is dynamic or is not.
    pub(super) fn of_kinds(self, dynamic: &[bool]) -> Self {
        Self { dynamic: Some(dynamic.iter().skip(1).copied().collect()), ..self }
    }

    /// As [`Traced::named`](super::Traced::named) takes it, of what stands in `file`.
    pub(crate) fn named(&self, file: &str) -> String {
        let kind = if self.dynamic.is_some() { REQUESTS } else { TIMES };
        format!("{kind}{file}")
    }

    /// Lines that [`Traced::named`](super::Traced::named) reads as the same arrivals, but for the first, of which nothing is
    /// known: times from 0 on, of which the unit is the mean gap, or a log of JSON with these as seconds of 2001.
    pub(crate) fn lines(&self) -> String {
        let (mut text, mut at) = (String::new(), 0.0);
        for (index, gap) in std::iter::once(&0.0).chain(self.gaps.iter()).enumerate() {
            at += gap;
            // Writing to a string cannot fail.
            let _ = match &self.dynamic {
                None => writeln!(text, "{at:.9}"),
                Some(dynamic) => {
                    let is_dynamic =
                        index.checked_sub(1).and_then(|before| dynamic.get(before)) == Some(&true);
                    let url = if is_dynamic { "/?dynamic" } else { "/" };
                    writeln!(text, r#"{{"ts":{},"request":{{"method":"GET","uri":"{url}"}}}}"#, of_2001(at))
                }
            };
        }
        text
    }

    /// The share of dynamic requests, where it is known which are.
    pub fn dynamic_share(&self) -> Option<f64> {
        let dynamic = self.dynamic.as_ref()?;
        Some(dynamic.iter().filter(|dynamic| **dynamic).count() as f64 / dynamic.len() as f64)
    }
}

/// Seconds since 1970 to the nanosecond, which one number does not hold.
fn of_2001(seconds: f64) -> String {
    let time = Span::from_secs_f64(seconds).as_nanos();
    format!("{}.{:09}", 1_000_000_000 + time / 1_000_000_000, time % 1_000_000_000)
}
