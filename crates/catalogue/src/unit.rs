//! [`Unit`]: what a value of a metric counts.

/// What a value of a metric counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things: requests, connections, threads. The help says which.
    Number,
    /// A part of a whole, from 0 to 1.
    Share,
    /// Yes is 1, no is 0.
    Flag,
    /// Processors: 1 is one processor all of the time.
    Processors,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// KiB per second.
    KibibytesPerSecond,
    /// Events per second.
    PerSecond,
    /// One that a label names.
    Labelled,
}

impl Unit {
    /// As the manual has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number => "",
            Self::Share => "0 to 1",
            Self::Flag => "0 or 1",
            Self::Processors => "processors",
            Self::Seconds => "s",
            Self::Bytes => "bytes",
            Self::BytesPerSecond => "bytes/s",
            Self::KibibytesPerSecond => "KiB/s",
            Self::PerSecond => "1/s",
            Self::Labelled => "as labelled",
        }
    }

    /// The word for it at the end of names, in OpenMetrics, of base units.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Seconds => Some("seconds"),
            Self::Bytes => Some("bytes"),
            Self::Share => Some("ratio"),
            Self::Processors => Some("processors"),
            _ => None,
        }
    }

    /// What so much per second comes to over time, and how many of these one is; none of what is not per second.
    pub const fn total(self) -> Option<(Self, f64)> {
        match self {
            Self::PerSecond => Some((Self::Number, 1.0)),
            Self::BytesPerSecond => Some((Self::Bytes, 1.0)),
            Self::KibibytesPerSecond => Some((Self::Bytes, 1024.0)),
            Self::Processors => Some((Self::Seconds, 1.0)),
            _ => None,
        }
    }

    /// Its code in the Unified Code for Units of Measure, which OpenTelemetry uses, of base units.
    pub const fn code(self) -> Option<&'static str> {
        match self {
            Self::Seconds => Some("s"),
            Self::Bytes => Some("By"),
            _ => None,
        }
    }
}
