//! Quantiles of values that are at hand, in rising order. Sample quantiles have several definitions (Hyndman and Fan,
//! "Sample quantiles in statistical packages", 1996); each function says which one it is.

/// The values in rising order.
pub fn rising(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The value in the middle, or the mean of the two in the middle; `None` without values.
pub fn median(rising: &[f64]) -> Option<f64> {
    let middle = rising.len() / 2;
    let upper = *rising.get(middle)?;
    Some(if rising.len().is_multiple_of(2) { f64::midpoint(rising[middle - 1], upper) } else { upper })
}

/// The value in the middle, of two in the middle the upper; `None` without values. It sorts them. For what has an order
/// and no mean of two, such as a span.
pub fn upper_median<T: Ord + Copy>(values: &mut [T]) -> Option<T> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// The least value that a share `q` of all values is at or below (definition 1); `None` without values.
pub fn nearest_rank(rising: &[f64], q: f64) -> Option<f64> {
    rising.get((q * rising.len() as f64).ceil().max(1.0) as usize - 1).copied()
}

/// The least value that has at least a share `q` of all values below it: of two values in the middle the upper. `None`
/// without values, and for a `q` of 1.
pub fn upper_rank(rising: &[f64], q: f64) -> Option<f64> {
    rising.get((q * rising.len() as f64) as usize).copied()
}

/// Between the two values next to `q` of the way from the first to the last (definition 7); `None` without values.
pub fn interpolated(rising: &[f64], q: f64) -> Option<f64> {
    let place = q * rising.len().checked_sub(1)? as f64;
    let (below, above) = (rising.get(place.floor() as usize)?, rising.get(place.ceil() as usize)?);
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_differ_between_values() {
        let four = rising([4.0, 2.0, 1.0, 3.0]);
        assert_eq!(median(&four), Some(2.5));
        assert_eq!(nearest_rank(&four, 0.5), Some(2.0));
        assert_eq!(upper_rank(&four, 0.5), Some(3.0));
        assert_eq!(interpolated(&four, 0.25), Some(1.75));
        let three = rising([3.0, 1.0, 2.0]);
        for quantile in [nearest_rank, upper_rank, interpolated] {
            assert_eq!(quantile(&three, 0.5), Some(2.0));
            assert_eq!(quantile(&[], 0.5), None);
        }
        assert_eq!((median(&three), median(&[])), (Some(2.0), None));
        let upper = |values: &[u8]| upper_median(&mut values.to_vec());
        assert_eq!((upper(&[4, 2, 1, 3]), upper(&[3, 1, 2]), upper(&[])), (Some(3), Some(2), None));
        assert_eq!((nearest_rank(&three, 0.0), nearest_rank(&three, 1.0)), (Some(1.0), Some(3.0)));
    }
}
