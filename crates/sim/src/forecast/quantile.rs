//! [`quantile`]: a value that a share of all do not exceed.

/// The least of `values` that so large a share of them do not exceed (nearest rank); `None` where there are none. It sorts them in part.
pub(super) fn quantile<T: Ord + Copy>(values: &mut [T], share: f64) -> Option<T> {
    let last = values.len().checked_sub(1)?;
    let rank = (share * values.len() as f64).ceil() as usize;
    let (_, found, _) = values.select_nth_unstable(rank.saturating_sub(1).min(last));
    Some(*found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_quantiles_too() {
        for (values, share, found) in [
            (&[][..], 0.5, None),
            (&[7], 0.95, Some(7)),
            (&[9, 1], 0.95, Some(9)),
            (&[3, 1, 2], 0.5, Some(2)),
        ] {
            assert_eq!(quantile(&mut values.to_vec(), share), found, "{values:?}");
        }
    }
}
