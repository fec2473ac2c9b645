//! [`Resolution`]: how exactly points in time are written.

use std::fmt;

/// How exactly points in time are written; that of a file is that of its coarsest line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resolution {
    /// Whole seconds.
    Seconds,
    /// Tenths to thousandths.
    Millis,
    /// Microseconds or finer.
    Micros,
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seconds => "seconds",
            Self::Millis => "milliseconds",
            Self::Micros => "microseconds",
        })
    }
}
