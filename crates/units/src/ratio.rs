//! [`Ratio`]: a share between nothing and all.

use core::fmt;
use core::str::FromStr;

use crate::number::{ParseError, number_and_unit};

/// A share in 0..=1.
///
/// ```
/// use units::Ratio;
/// assert_eq!("20%".parse::<Ratio>().map(Ratio::as_f64), Ok(0.2));
/// assert!("1.2".parse::<Ratio>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Ratio(f64);

impl Ratio {
    /// Nothing.
    pub const ZERO: Self = Self(0.0);
    /// All.
    pub const ONE: Self = Self(1.0);

    /// `None` unless `share` is within 0..=1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// The nearest share within 0..=1; NaN becomes 0.
    pub fn clamped(share: f64) -> Self {
        if share.is_nan() { Self(0.0) } else { Self(share.clamp(0.0, 1.0)) }
    }

    /// The share.
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl FromStr for Ratio {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        const EXPECTED: ParseError = ParseError::expected("a share from 0 to 1 or a percentage");
        let (number, unit) = number_and_unit(text).ok_or(EXPECTED)?;
        let share = match unit {
            "" => number,
            "%" => number / 100.0,
            _ => return Err(EXPECTED),
        };
        Self::new(share).ok_or(EXPECTED)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}%", self.0 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shares_are_ratios() {
        assert_eq!(Ratio::new(1.0), Some(Ratio::ONE));
        assert_eq!(Ratio::new(-0.1), None);
        assert_eq!(Ratio::new(f64::NAN), None);
        assert_eq!(Ratio::clamped(7.0), Ratio::ONE);
        assert_eq!(Ratio::clamped(f64::NAN), Ratio::ZERO);
    }
}
