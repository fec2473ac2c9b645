//! One replication from its beginning to its end, interval by interval.

mod intervals;
mod samples;

pub use self::intervals::{ClassInterval, Interval, Range, TimeSeries, time_series};
