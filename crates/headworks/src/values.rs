//! Values of options that more than one command has.

use std::ops::RangeInclusive;
use std::str::FromStr;

use telemetry::otlp::Collector;
use units::{Count, ParseError};

/// Reads a count within `range`, `k` and `M` included; `T` has to hold all of the range.
pub(crate) fn count<T: FromStr>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let Count(count) = text.parse().map_err(|why: ParseError| why.to_string())?;
        if count < *range.start() {
            return Err(format!("must be at least {}", range.start()));
        }
        let too_many = || format!("must be at most {}", range.end());
        if count > *range.end() {
            return Err(too_many());
        }
        count.to_string().parse().map_err(|_| too_many())
    }
}

/// The address of an OpenTelemetry collector.
pub(crate) fn collector(text: &str) -> Result<Collector, String> {
    Collector::at(text)
        .ok_or_else(|| "give http:// with host and port, for example http://127.0.0.1:4318".to_owned())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn counts_are_held_to_their_range() {
        let read = count::<NonZeroU32>(1..=100_000);
        assert_eq!(read("10k"), Ok(NonZeroU32::new(10_000).unwrap()));
        assert_eq!(read("0"), Err("must be at least 1".to_owned()));
        assert_eq!(read("1M"), Err("must be at most 100000".to_owned()));
        assert_eq!(read("-1"), Err("expected a whole number such as 64, 10k or 1M".to_owned()));
        assert_eq!(count::<u8>(0..=1000)("300"), Err("must be at most 1000".to_owned()));
    }
}
