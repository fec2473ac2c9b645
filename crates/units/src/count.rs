//! [`Count`]: how many, as people type it.

use core::fmt;
use core::str::FromStr;

use crate::number::{ParseError, number_and_unit};

/// A whole number that may be typed with `k` or `M` behind it.
///
/// ```
/// use units::Count;
/// assert_eq!("10k".parse(), Ok(Count(10_000)));
/// assert!("1.5".parse::<Count>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Count(pub u64);

impl FromStr for Count {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        const EXPECTED: ParseError = ParseError::expected("a whole number such as 64, 10k or 1M");
        let (number, unit) = number_and_unit(text).ok_or(EXPECTED)?;
        let scaled = match unit {
            "" => number,
            "k" => number * 1e3,
            "M" => number * 1e6,
            _ => return Err(EXPECTED),
        };
        let whole = scaled as u64;
        if whole as f64 == scaled { Ok(Self(whole)) } else { Err(EXPECTED) }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
