//! Values of options that more than one command has.

use std::ops::RangeInclusive;
use std::str::FromStr;

use units::{Count, ParseError};

/// Reads a count within `range`, `k` and `M` included; `T` has to hold all of the range.
pub(super) fn count<T: FromStr>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let Count(count) = text.parse().map_err(|why: ParseError| why.to_string())?;
        let outside = || format!("must be {} to {}", range.start(), range.end());
        if !range.contains(&count) {
            return Err(outside());
        }
        count.to_string().parse().map_err(|_| outside())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn counts_are_held_to_their_range() {
        let read = count::<NonZeroU32>(1..=100_000);
        assert_eq!(read("10k"), Ok(NonZeroU32::new(10_000).unwrap()));
        assert_eq!(read("0"), Err("must be 1 to 100000".to_owned()));
        assert_eq!(read("1M"), Err("must be 1 to 100000".to_owned()));
        assert_eq!(read("-1"), Err("expected a whole number such as 64, 10k or 1M".to_owned()));
        assert_eq!(count::<u8>(0..=1000)("300"), Err("must be 0 to 1000".to_owned()));
    }
}
