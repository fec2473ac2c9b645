//! Figures as people read them; the page's `format.ts` follows the same rules.

/// Three significant digits, never in exponent form.
pub(crate) fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let digits = (2.0 - x.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{x:.digits$}")
}

/// A share in per cent. What is not all is never rounded up to 100 %, what is not nothing never
/// down to 0 %: a single lost session must show.
pub(crate) fn percent(share: f64) -> String {
    if share == 0.0 || share == 1.0 {
        return format!("{} %", share * 100.0);
    }
    format!("{:.1} %", (share * 100.0).clamp(0.1, 99.9))
}

/// A length of time in the unit that keeps a digit before the point.
pub(crate) fn seconds(s: f64) -> String {
    match s {
        0.0 => "0 s".to_owned(),
        s if s < 0.000_999_5 => format!("{} µs", number(s * 1e6)),
        s if s < 0.999_5 => format!("{} ms", number(s * 1e3)),
        s => format!("{} s", number(s)),
    }
}

/// A level with its unit: `3×` for multiples, else as it is.
pub(crate) fn level(x: f64, unit: &str) -> String {
    if unit.starts_with("x ") { format!("{x}×") } else { format!("{x} {unit}").trim_end().to_owned() }
}

/// A level spelled out: `3× capacity`.
pub(crate) fn level_in_words(x: f64, unit: &str) -> String {
    match unit.strip_prefix("x ") {
        Some(of) => format!("{x}× {of}"),
        None => level(x, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits() {
        assert_eq!(number(37.123), "37.1");
        assert_eq!(number(1234.5), "1234");
        assert_eq!(number(0.012_34), "0.0123");
        assert_eq!(seconds(0.412), "412 ms");
        assert_eq!(seconds(0.000_25), "250 µs");
        assert_eq!(seconds(2.5), "2.50 s");
    }

    #[test]
    fn one_lost_session_shows() {
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.99999), "99.9 %");
        assert_eq!(percent(0.000_01), "0.1 %");
        assert_eq!(percent(0.0), "0 %");
    }

    #[test]
    fn multiples_are_shown_as_such() {
        assert_eq!(level(0.7, "x capacity"), "0.7×");
        assert_eq!(level_in_words(3.0, "x capacity"), "3× capacity");
        assert_eq!(level(150.0, "workers"), "150 workers");
        assert_eq!(level(4.0, ""), "4");
    }
}
