//! Figures in sentences: no more digits than an operator compares.

/// A share in whole per cent; what is not nothing or not all is never rounded to it.
pub(super) fn percent(share: f64) -> String {
    let whole = (share * 100.0).round();
    let whole = if share > 0.0 && share < 1.0 { whole.clamp(1.0, 99.0) } else { whole.clamp(0.0, 100.0) };
    format!("{whole} %")
}

/// A time in two digits.
pub(super) fn time(seconds: f64) -> String {
    let milliseconds = two_digits(seconds * 1e3);
    if milliseconds < 1000.0 { format!("{milliseconds} ms") } else { format!("{} s", two_digits(seconds)) }
}

/// A rate.
pub(super) fn per_second(rate: f64) -> String {
    format!("{}/s", if rate < 99.5 { two_digits(rate) } else { rate.round() })
}

/// The first of them by name, and how many more there are.
pub(super) fn list(names: &[&str], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let named = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

fn two_digits(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    // Divided by a power of ten, not multiplied by its inverse: so 0.12 is written as that.
    let digits = 1 - value.log10().floor() as i32;
    if digits >= 0 {
        let scale = 10f64.powi(digits);
        (value * scale).round() / scale
    } else {
        let scale = 10f64.powi(-digits);
        (value / scale).round() * scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_as_many_digits_as_are_read() {
        assert_eq!([0.0, 0.004, 0.355, 0.999, 1.0].map(percent), ["0 %", "1 %", "36 %", "99 %", "100 %"]);
        assert_eq!(
            [0.0, 0.000_412, 0.0412, 0.1234, 0.9999, 2.345, 123.4].map(time),
            ["0 ms", "0.41 ms", "41 ms", "120 ms", "1 s", "2.3 s", "120 s"]
        );
        assert_eq!([0.051, 4.02, 41.7, 1234.5].map(per_second), ["0.051/s", "4/s", "42/s", "1235/s"]);
        assert_eq!(list(&["a", "b", "c"], 2), "a, b and 1 more");
    }
}
