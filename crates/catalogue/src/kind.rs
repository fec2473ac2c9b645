//! [`Kind`]: how the values of a metric are to be read.

/// How the values of a metric are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A total since the start of the process, or of the measuring window of a run.
    Counter,
    /// A value at one moment, or the mean or the rate of an interval that ends then.
    Gauge,
    /// Observations in buckets since the start.
    Histogram,
}

impl Kind {
    /// Its name in Prometheus' text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}
