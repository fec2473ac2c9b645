//! Ends of axes.

/// The next round number, so that the scale seldom changes.
pub(crate) fn round_up(most: f64) -> f64 {
    const STEPS: [f64; 7] = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0];
    let decade = 10f64.powf(most.log10().floor());
    STEPS.map(|step| step * decade).into_iter().find(|top| *top >= most).unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::round_up;

    #[test]
    fn the_scale_ends_at_a_round_number() {
        assert_eq!([1.0, 1.1, 20.0, 2001.0, 8001.0].map(round_up), [1.0, 1.5, 20.0, 3000.0, 10_000.0]);
    }
}
