//! [`Unit`]: what a number is in.

use serde::Serialize;

/// How figures are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// As they are.
    Plain,
    /// Shares, in per cent.
    Percent,
    /// Lengths of time.
    Seconds,
    /// Sizes.
    Bytes,
    /// Per second.
    Rate,
}
