//! Figures as people read them: three significant digits and a unit, so that columns line up.

use record::{ObjectiveResult, ObjectiveUnit, Quantiles};
use units::Span;

/// A figure of a distribution; `-` where it has none.
pub fn of(quantiles: &Quantiles, seconds: f64) -> String {
    if quantiles.count == 0 { "-".to_owned() } else { time(seconds) }
}

/// What was measured for an objective; nothing where nothing was.
pub fn objective(result: &ObjectiveResult) -> Option<String> {
    let measured = result.measured?;
    Some(match result.unit() {
        ObjectiveUnit::Share => format!("{:.2} %", measured * 100.0),
        ObjectiveUnit::PerSecond => format!("{}/s", number(measured)),
        ObjectiveUnit::Seconds => time(measured),
    })
}

/// A time in the unit that fits it, from microseconds to seconds.
pub fn time(seconds: f64) -> String {
    let (scale, unit) = match Span::from_secs_f64(seconds).as_nanos() {
        0 => return "0".to_owned(),
        1..1_000_000 => (1e6, "us"),
        1_000_000..1_000_000_000 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{} {unit}", three_digits(seconds * scale))
}

/// A count or a rate.
pub fn number(value: f64) -> String {
    match value {
        value if value >= 999.5e6 => format!("{}G", three_digits(value / 1e9)),
        value if value >= 999.5e3 => format!("{}M", three_digits(value / 1e6)),
        value if value >= 9999.5 => format!("{}k", three_digits(value / 1e3)),
        value if value == value.round() || value >= 99.95 => format!("{value:.0}"),
        value => three_digits(value),
    }
}

/// A duration of the run itself.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{}:{:02} min", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

fn three_digits(value: f64) -> String {
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_whatever_the_size() {
        assert_eq!(
            [0.0, 4.2e-6, 0.012_34, 0.9996, 75.04].map(time),
            ["0", "4.20 us", "12.3 ms", "1000 ms", "75.0 s"]
        );
        assert_eq!(
            [0.0, 0.25, 64.0, 1234.5, 9999.9, 45_678.0, 999_999.0, 2.5e9].map(number),
            ["0", "0.25", "64", "1234", "10.0k", "45.7k", "1.00M", "2.50G"]
        );
        assert_eq!([0.4, 59.0, 61.0, 7325.0].map(clock), ["0 s", "59 s", "1:01 min", "2:02:05 h"]);
        assert_eq!(of(&Quantiles::default(), 1.0), "-");
    }

    #[test]
    fn what_an_objective_is_about_has_its_unit() {
        let shown = |stated: &str, measured| {
            objective(&ObjectiveResult { objective: stated.to_owned(), measured, met: false })
        };
        for (stated, expected) in [
            ("p99<50ms", "20.0 ms"),
            ("connect.max<1s", "20.0 ms"),
            ("errors<1%", "2.00 %"),
            ("failed<1%", "2.00 %"),
            ("completed>=99%", "2.00 %"),
            ("rate>=100", "0.02/s"),
        ] {
            assert_eq!(shown(stated, Some(0.02)).as_deref(), Some(expected), "{stated}");
        }
        assert_eq!(shown("rate>=100", None), None);
    }
}
