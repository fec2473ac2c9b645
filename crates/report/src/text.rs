//! Figures as people read them; the page's `format.ts` follows the same rules.

use record::experiment::Server;
use units::Span;

/// Three significant digits, never in exponent form.
pub(crate) fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let digits = (2.0 - x.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{x:.digits$}")
}

/// Four significant digits, which is more than a picture shows: the page would be several times
/// as large with all of them.
pub(crate) fn rounded(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let scale = 10f64.powi(3 - x.abs().log10().floor() as i32);
    (x * scale).round() / scale
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

/// How many times as much one thing is as another.
pub(crate) fn times(ratio: f64) -> String {
    if ratio >= 1.0 { format!("{ratio:.1}") } else { format!("{ratio:.2}") }
}

/// Words as a sentence has them: `a, b and c`.
pub(crate) fn list(words: &[String]) -> String {
    match words {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => words.concat(),
    }
}

/// A length of time that somebody set, with the digits that it was set with.
pub(crate) fn setting(span: Span) -> String {
    let s = span.as_secs_f64();
    if s >= 1.0 || span.is_zero() { format!("{s} s") } else { format!("{} ms", s * 1e3) }
}

/// A server's kind and version, the kind once.
pub(crate) fn server(server: &Server) -> String {
    let Server { kind, version } = server;
    if version.is_empty() {
        kind.clone()
    } else if version.to_lowercase().contains(kind.as_str()) {
        version.clone()
    } else {
        format!("{kind} ({version})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed() {
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&words), "a, b and c");
        assert_eq!((list(&words[..2]), list(&words[..1])), ("a and b".to_owned(), "a".to_owned()));
    }

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
    fn figures_of_pictures_keep_four_digits() {
        assert_eq!(rounded(0.000_123_456), 0.000_123_5);
        assert_eq!(rounded(123_456.0), 123_500.0);
        assert_eq!(rounded(0.0), 0.0);
    }

    #[test]
    fn settings_are_shown_as_they_were_set() {
        assert_eq!(setting(Span::from_millis(2500)), "2.5 s");
        assert_eq!(setting(Span::from_millis(300)), "300 ms");
        assert_eq!(setting(Span::ZERO), "0 s");
    }

    #[test]
    fn a_server_is_named_once() {
        let name = |kind: &str, version: &str| {
            server(&Server { kind: kind.to_owned(), version: version.to_owned() })
        };
        assert_eq!(name("apache", "Apache/2.4"), "Apache/2.4");
        assert_eq!(name("origin", "headworks 1"), "origin (headworks 1)");
        assert_eq!(name("url", ""), "url");
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
