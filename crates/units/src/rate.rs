//! [`Rate`]: events per second.

use core::fmt;
use core::str::FromStr;

use crate::number::{ParseError, number_and_unit};
use crate::time::Span;

/// Events per second: finite and not negative.
///
/// ```
/// use units::{Rate, Span};
/// let rate: Rate = "2k".parse()?;
/// assert_eq!(rate.period(), Span::from_micros(500));
/// # Ok::<(), units::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Rate(f64);

impl Rate {
    /// `per_second` events per second; `None` unless finite and not negative.
    pub fn per_second(per_second: f64) -> Option<Self> {
        (per_second.is_finite() && per_second >= 0.0).then_some(Self(per_second))
    }

    /// `count` events in `span`; zero when the span is empty.
    pub fn of(count: u64, span: Span) -> Self {
        if span.is_zero() {
            return Self(0.0);
        }
        Self(count as f64 / span.as_secs_f64())
    }

    /// Events per second.
    pub const fn as_f64(self) -> f64 {
        self.0
    }

    /// The mean time between two events; [`Span::MAX`] for a rate of zero.
    pub fn period(self) -> Span {
        if self.0 > 0.0 { Span::from_secs_f64(1.0 / self.0) } else { Span::MAX }
    }

    /// This rate times a factor that is finite and not negative; otherwise unchanged.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self::per_second(self.0 * factor).unwrap_or(self)
    }
}

impl FromStr for Rate {
    type Err = ParseError;

    /// Reads `40`, `2.5k`, `1M` and, because people write it, `40/s`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        const EXPECTED: ParseError = ParseError::expected("a rate per second such as 40, 2.5k or 1M");
        let text = text.trim();
        let (number, unit) = number_and_unit(text.strip_suffix("/s").unwrap_or(text)).ok_or(EXPECTED)?;
        let factor = match unit {
            "" => 1.0,
            "k" => 1e3,
            "M" => 1e6,
            _ => return Err(EXPECTED),
        };
        Self::per_second(number * factor).ok_or(EXPECTED)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            x if x >= 1e6 => write!(f, "{:.2}M/s", x / 1e6),
            x if x >= 1e4 => write!(f, "{:.1}k/s", x / 1e3),
            x if x >= 100.0 => write!(f, "{x:.0}/s"),
            x => write!(f, "{x:.1}/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn rates_are_read_and_shown() {
        assert_eq!("40/s".parse::<Rate>().map(Rate::as_f64), Ok(40.0));
        assert_eq!("2.5k".parse::<Rate>().map(Rate::as_f64), Ok(2500.0));
        assert!("fast".parse::<Rate>().is_err());
        assert!("1k/m".parse::<Rate>().is_err());
        assert_eq!(Rate(12_345.0).to_string(), "12.3k/s");
        assert_eq!(Rate(0.0).period(), Span::MAX);
        assert_eq!(Rate::of(5, Span::ZERO).as_f64(), 0.0);
        assert_eq!(Rate::per_second(f64::INFINITY), None);
    }
}
