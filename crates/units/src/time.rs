//! [`Time`], a point, and [`Span`], a length, in integer nanoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};
use core::str::FromStr;

use crate::number::{ParseError, number_and_unit, round_to_u64};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A point in time: nanoseconds since an epoch that the driver chooses and keeps.
///
/// The policy and the simulator never read a clock; they are handed a `Time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The epoch itself.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens: "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// The point `nanos` nanoseconds after the epoch.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    /// Saturates at [`Time::NEVER`].
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    /// Saturates at [`Time::ZERO`].
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

/// A length of time in nanoseconds, never negative.
///
/// ```
/// use units::Span;
/// let think: Span = "1.5s".parse()?;
/// assert_eq!(think, Span::from_millis(1500));
/// assert_eq!(think.to_string(), "1.5s");
/// # Ok::<(), units::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than any run: "without limit".
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds; saturates.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// `millis` milliseconds; saturates.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// `seconds` seconds; saturates.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// The nearest whole nanosecond to `seconds`; negative and NaN become zero.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(round_to_u64(seconds * NANOS_PER_SECOND as f64))
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, as the JSON summaries give them.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// Whether this is [`Span::ZERO`].
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// This less `other`, not below zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// This times a factor, rounded to the nearest nanosecond.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self(round_to_u64(self.0 as f64 * factor))
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Span {
    type Output = Self;
    /// Panics when `divisor` is zero, as integer division does.
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl core::iter::Sum for Span {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl From<core::time::Duration> for Span {
    fn from(duration: core::time::Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Span> for core::time::Duration {
    fn from(span: Span) -> Self {
        Self::from_nanos(span.0)
    }
}

impl FromStr for Span {
    type Err = ParseError;

    /// Reads `30s`, `250ms`, `20us`, `15ns`, `5m`, `2h`, and `0`. Any other bare number is refused:
    /// half of the tools in this field read it as seconds, the other half as milliseconds.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        const EXPECTED: ParseError = ParseError::expected("a length of time such as 30s, 250ms, 5m or 2h");
        const NO_UNIT: ParseError =
            ParseError::expected("a unit behind the number, such as 30s, 250ms, 5m or 2h");
        let (number, unit) = number_and_unit(text).ok_or(EXPECTED)?;
        let seconds = match unit {
            "ns" => number / 1e9,
            "us" | "µs" => number / 1e6,
            "ms" => number / 1e3,
            "" if number > 0.0 => return Err(NO_UNIT),
            "" | "s" => number,
            "m" | "min" => number * 60.0,
            "h" => number * 3600.0,
            _ => return Err(EXPECTED),
        };
        Ok(Self::from_secs_f64(seconds))
    }
}

impl fmt::Display for Span {
    /// The largest of s, ms, us, ns that keeps at least one digit before the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, unit) = match self.0 {
            0 => return f.pad("0s"),
            1..1_000 => (1.0, "ns"),
            1_000..1_000_000 => (1e3, "us"),
            1_000_000..NANOS_PER_SECOND => (1e6, "ms"),
            _ => (1e9, "s"),
        };
        let value = self.0 as f64 / scale;
        match f.precision() {
            Some(digits) => write!(f, "{value:.digits$}{unit}"),
            None => write!(f, "{value}{unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn spans_are_read_as_people_type_them() {
        for (text, nanos) in [
            ("30s", 30 * NANOS_PER_SECOND),
            ("250ms", 250_000_000),
            ("2.5ms", 2_500_000),
            ("20 us", 20_000),
            ("15ns", 15),
            ("5m", 300 * NANOS_PER_SECOND),
            ("2h", 7200 * NANOS_PER_SECOND),
            ("0", 0),
        ] {
            assert_eq!(text.parse::<Span>(), Ok(Span::from_nanos(nanos)), "{text}");
        }
        for text in ["", "s", "-1s", "1d", "1e3s", "nan", "1.2.3s"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
        let error = "3".parse::<Span>().unwrap_err().to_string();
        assert_eq!(error, "expected a unit behind the number, such as 30s, 250ms, 5m or 2h");
    }

    #[test]
    fn spans_are_shown_with_the_unit_that_fits() {
        assert_eq!(Span::from_millis(25).to_string(), "25ms");
        assert_eq!(Span::from_nanos(1_234_567).to_string(), "1.234567ms");
        assert_eq!(std::format!("{:.1}", Span::from_nanos(1_234_567)), "1.2ms");
        assert_eq!(Span::ZERO.to_string(), "0s");
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Time::from_nanos(5).since(Time::from_nanos(9)), Span::ZERO);
        assert_eq!(Time::NEVER + Span::from_secs(1), Time::NEVER);
        assert_eq!(Time::ZERO - Span::from_secs(1), Time::ZERO);
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
    }
}
