//! When a visitor's turn is, for people: no more exactly than that is known.

use units::Span;

/// About when a visitor's turn is.
pub(crate) fn time(wait: Option<Span>) -> String {
    match minutes(wait) {
        None => "at a time that is not known yet".to_owned(),
        Some(0) => "in less than a minute".to_owned(),
        Some(1) => "in about a minute".to_owned(),
        Some(minutes @ 2..60) => format!("in about {minutes} minutes"),
        Some(60) => "in about an hour".to_owned(),
        Some(minutes) => format!("in about {} hours", minutes.div_ceil(60)),
    }
}

/// The wait in minutes: single ones up to ten, then fives up to an hour, then hours. Rounded up: who comes in sooner is
/// glad.
pub(crate) fn minutes(wait: Option<Span>) -> Option<u64> {
    let seconds = wait?.as_secs_f64();
    let step = |minutes: u64| (seconds / 60.0 / minutes as f64).ceil() as u64 * minutes;
    Some(match seconds {
        ..45.0 => 0,
        ..600.0 => step(1),
        ..3300.0 => step(5),
        _ => step(60),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_no_more_exactly_than_they_are_known() {
        for (wait, told) in [
            (None, "at a time that is not known yet"),
            (Some(0), "in less than a minute"),
            (Some(50), "in about a minute"),
            (Some(200), "in about 4 minutes"),
            (Some(599), "in about 10 minutes"),
            (Some(601), "in about 15 minutes"),
            (Some(3299), "in about 55 minutes"),
            (Some(3400), "in about an hour"),
            (Some(3601), "in about 2 hours"),
        ] {
            assert_eq!(time(wait.map(Span::from_secs)), told, "{wait:?} s");
        }
    }
}
