//! Reading a number with a unit behind it, the way people type it.

use core::fmt;

/// Why a quantity could not be read. The message names what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    expected: &'static str,
}

impl ParseError {
    pub(crate) const fn expected(expected: &'static str) -> Self {
        Self { expected }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

impl core::error::Error for ParseError {}

/// Splits `"2.5ms"` into `(2.5, "ms")`; the number must be finite and not negative.
pub(crate) fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text.get(..end)?.parse().ok()?;
    number.is_finite().then(|| (number, text.get(end..).unwrap_or("").trim_start()))
}

/// Rounds to the nearest integer; `core` has no `f64::round`. Saturates at the ends.
pub(crate) fn round_to_u64(x: f64) -> u64 {
    (x + 0.5) as u64
}
