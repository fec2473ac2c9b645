//! [`Percentile`]: a share of all requests, as people write it.

use std::fmt;
use std::str::FromStr;

use record::Quantiles;
use stats::Histogram;
use units::Span;

/// A percentile between 0 and 100, such as the 99.9th.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile(f64);

/// A text that is not a percentile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a percentile; write a number above 0 and up to 100, such as 75, p99.9 or p999")]
pub struct PercentileError(String);

impl FromStr for Percentile {
    type Err = PercentileError;

    /// `99.9` and `p99.9`; `p999` and `p9999` are 99.9 and 99.99.
    fn from_str(text: &str) -> Result<Self, PercentileError> {
        let error = || PercentileError(text.to_owned());
        let number = text.strip_prefix('p').unwrap_or(text);
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if !is_number(number) {
            return Err(error());
        }
        let value = match number.split_at_checked(2) {
            Some(("99", rest)) if !rest.is_empty() && !rest.contains('.') => {
                format!("99.{rest}").parse::<f64>()
            }
            _ => number.parse(),
        };
        let value = value.map_err(|_| error())?;
        if value > 0.0 && value <= 100.0 { Ok(Self(value)) } else { Err(error()) }
    }
}

impl fmt::Display for Percentile {
    /// As `p99.9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

impl Percentile {
    /// Whether summaries have it in any case, by the name that it has here.
    pub(crate) fn is_usual(self) -> bool {
        [50.0, 90.0, 95.0, 99.0].contains(&self.0)
    }

    /// It, as a summary has it; nothing where it does not.
    pub(crate) fn in_summary(self, quantiles: &Quantiles) -> Option<f64> {
        match self.0 {
            50.0 => Some(quantiles.p50),
            90.0 => Some(quantiles.p90),
            95.0 => Some(quantiles.p95),
            99.0 => Some(quantiles.p99),
            _ => quantiles.others.get(&self.to_string()).copied(),
        }
    }

    /// What so many per cent of all are at or below.
    pub(crate) fn of(self, histogram: &Histogram) -> Span {
        // The nearest number to the decimal fraction: one above it would be the next latency.
        histogram.quantile((self.0 * 1e9).round() / 1e11)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_read_as_people_write_them() {
        for (text, shown) in [
            ("50", "p50"),
            ("p95", "p95"),
            ("p999", "p99.9"),
            ("p9999", "p99.99"),
            ("p99.99", "p99.99"),
            ("99.5", "p99.5"),
            ("100", "p100"),
            ("p5", "p5"),
            ("0.1", "p0.1"),
        ] {
            assert_eq!(text.parse::<Percentile>().unwrap().to_string(), shown, "{text}");
        }
        for text in ["", "p", "0", "p0", "100.1", "-1", "1e1", "p99,9", "fast", "9.9.9", "p101", "500"] {
            assert!(text.parse::<Percentile>().is_err(), "{text}");
        }
    }

    #[test]
    fn they_are_taken_from_a_histogram() {
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|millis| histogram.record(Span::from_millis(millis)));
        let at = |text: &str| text.parse::<Percentile>().unwrap().of(&histogram).as_secs_f64();
        assert!((at("75") / 0.75 - 1.0).abs() < 1e-3);
        assert!((at("p99.9") / 0.999 - 1.0).abs() < 1e-3);
        assert!((at("100") - 1.0).abs() < 1e-9);
    }
}
