//! [`Logged`]: a line of an access log as it stands, whatever its method.

use units::Span;

use super::resolution::Written;

/// What a line of an access log says.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// Since 1970, as it is written.
    pub at: Span,
    /// How exactly that is written.
    pub written: Written,
    /// What was to be done.
    pub method: String,
    /// Path and query; `None` where it is something else, as with `OPTIONS *` and `CONNECT`.
    pub url: Option<String>,
    /// What the server answered.
    pub status: Option<u16>,
    /// How many bytes it sent.
    pub bytes: Option<u64>,
    /// Whether `at` is when the request had ended; `None` in formats that do not say.
    pub is_end: Option<bool>,
    /// How long the request took, in formats that say so.
    pub took: Option<Span>,
    /// In the others, the number that the line ends in, behind status and bytes: in many formats how long the
    /// request took.
    pub last: Option<LastNumber>,
}

/// A number at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LastNumber {
    /// It.
    pub value: f64,
    /// Digits behind its point.
    pub decimals: usize,
}
