//! Figures as text.

use stats::Spread;

/// `0.72 (0.70–0.75)`, with three significant digits.
pub(crate) fn show(spread: Option<Spread>) -> String {
    let Some(Spread { median, least, most }) = spread else { return dash() };
    let digits = match median {
        median if median >= 100.0 => 0,
        median if median >= 10.0 => 1,
        _ => 2,
    };
    format!("{median:.digits$} ({least:.digits$}–{most:.digits$})")
}

pub(crate) fn dash() -> String {
    "–".to_owned()
}

/// `45 900`: three digits, the others are noise.
pub(crate) fn thousands(value: f64) -> String {
    let unit = 10_f64.powf((value.max(1.0).log10().floor() - 2.0).max(0.0));
    let digits = format!("{:.0}", (value / unit).round() * unit);
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept() {
        assert_eq!([45_912.0, 8.04, 25_349_113.0].map(thousands), ["45 900", "8", "25 300 000"]);
        let spread = |median: f64| Some(Spread { median, least: median / 2.0, most: median * 2.0 });
        assert_eq!(
            [0.721, 31.44, 312.4].map(|median| show(spread(median))),
            ["0.72 (0.36–1.44)", "31.4 (15.7–62.9)", "312 (156–625)"]
        );
        assert_eq!(show(None), "–");
    }
}
