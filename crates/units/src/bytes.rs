//! [`Bytes`]: sizes.

use core::fmt;
use core::ops::{Add, AddAssign};
use core::str::FromStr;

use crate::number::{ParseError, number_and_unit, round_to_u64};

/// A number of bytes. `k` and `KB` are 1000 bytes, `KiB` is 1024.
///
/// ```
/// use units::Bytes;
/// assert_eq!("20KiB".parse(), Ok(Bytes(20_480)));
/// assert_eq!("50k".parse(), Ok(Bytes(50_000)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl FromStr for Bytes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        const EXPECTED: ParseError = ParseError::expected("a size such as 200, 50k, 20KiB or 5MB");
        let (number, unit) = number_and_unit(text).ok_or(EXPECTED)?;
        let factor = match unit {
            "" | "B" => 1.0,
            "k" | "kB" | "KB" => 1e3,
            "M" | "MB" => 1e6,
            "G" | "GB" => 1e9,
            "KiB" | "Ki" => 1024.0,
            "MiB" | "Mi" => 1024.0 * 1024.0,
            "GiB" | "Gi" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err(EXPECTED),
        };
        Ok(Self(round_to_u64(number * factor)))
    }
}

impl fmt::Display for Bytes {
    /// Decimal prefixes, as network rates use them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, unit) = match self.0 {
            0..1_000 => return write!(f, "{} B", self.0),
            1_000..1_000_000 => (1e3, "kB"),
            1_000_000..1_000_000_000 => (1e6, "MB"),
            _ => (1e9, "GB"),
        };
        write!(f, "{:.1} {unit}", self.0 as f64 / scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn sizes_are_read_and_shown() {
        for (text, bytes) in [("200", 200), ("5MB", 5_000_000), ("2MiB", 2_097_152), ("1.5k", 1_500)] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        assert!("5 parsecs".parse::<Bytes>().is_err());
        assert_eq!(Bytes(14_700).to_string(), "14.7 kB");
        assert_eq!(Bytes(999).to_string(), "999 B");
    }
}
