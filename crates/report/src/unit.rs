//! [`Unit`]: what a number is in, and how it is written for people on a terminal; the page's `units.ts` follows the
//! same rules.

use serde::Serialize;

use crate::text::{number, percent, seconds};

/// What a number is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nothing; with as many digits as it has.
    Plain,
    /// Nothing; with three significant digits.
    Number,
    /// Things that are counted: whole.
    Count,
    /// A share from 0 to 1, written in per cent.
    Percent,
    /// A relative difference, 0 for none, written in per cent with its sign.
    Difference,
    /// Seconds, written in the unit that suits.
    Seconds,
    /// Bytes, written in the unit that suits.
    Bytes,
    /// Thousands of bytes.
    Kilobytes,
    /// Millions of bytes.
    Megabytes,
    /// 1,048,576 bytes each.
    Mebibytes,
    /// Per second.
    Rate,
    /// 1,024 bytes per second each.
    KibibytesPerSecond,
    /// Millions of bits per second.
    MegabitsPerSecond,
}

impl Unit {
    /// A value in this unit, for a terminal.
    pub(crate) fn written(self, value: f64) -> String {
        match self {
            Self::Plain | Self::Number | Self::Bytes => number(value),
            Self::Count => format!("{value:.0}"),
            Self::Percent => percent(value),
            Self::Difference => format!("{:+.2} %", value * 100.0),
            Self::Seconds => seconds(value),
            Self::Kilobytes => format!("{} kB", number(value)),
            Self::Megabytes => format!("{} MB", number(value)),
            Self::Mebibytes => format!("{} MiB", number(value)),
            Self::Rate => format!("{}/s", number(value)),
            Self::KibibytesPerSecond => format!("{} KiB/s", number(value)),
            Self::MegabitsPerSecond => format!("{} Mbit/s", number(value)),
        }
    }
}
