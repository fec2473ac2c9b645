//! [`Moment`]: a time as people write it.

use std::str::FromStr;

use record::Timestamp;
use units::Span;

/// A moment in a record: `14:03:20` and `14:03:20.250` on the first day of it that has that time, in UTC,
/// `2026-11-28T14:03:20Z`, `30s` after its first look, or `-10s` before its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A point on the calendar.
    At(Timestamp),
    /// Since midnight, UTC.
    OfDay(Span),
    /// Since the first look of the record.
    After(Span),
    /// Before its last look.
    BeforeEnd(Span),
}

/// Why a text is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no moment; write a time of day in UTC such as 14:03:20.5, a date with it such as 2026-11-28T14:03:20Z, \
     30s for a time since the beginning, or -10s for one before the end"
)]
pub struct BadMoment(String);

const DAY: u64 = 24 * 3600;

impl Moment {
    /// How long after the beginning of a watch that began then, of a record that has looks from `first` to `last` after it.
    pub fn since(self, began: Timestamp, first: Span, last: Span) -> Span {
        let nanos = |nanos: i128| Span::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX));
        match self {
            Self::After(span) => first + span,
            Self::BeforeEnd(span) => last.saturating_sub(span),
            Self::At(at) => nanos(at.as_nanosecond() - began.as_nanosecond()),
            Self::OfDay(time) => {
                let day = i128::from(DAY) * 1_000_000_000;
                let (first, last) = (i128::from(first.as_nanos()), i128::from(last.as_nanos()));
                let begins = (began.as_nanosecond() + first).rem_euclid(day);
                let after_first = (i128::from(time.as_nanos()) - begins).rem_euclid(day);
                // On a day that the record has, if there is one; else a little before its beginning, or after its end.
                let is_before = first + after_first > last && after_first > day / 2;
                nanos(first + if is_before { after_first - day } else { after_first })
            }
        }
    }
}

/// So long after a watch began, on the calendar.
pub(super) fn on_calendar(began: Timestamp, after: Span) -> Timestamp {
    let nanos = began.as_nanosecond() + i128::from(after.as_nanos());
    Timestamp::from_nanosecond(nanos).unwrap_or(began)
}

fn of_day(text: &str) -> Option<Span> {
    let mut parts = text.split(':');
    let hours: u64 = parts.next()?.parse().ok().filter(|hours| *hours < 24)?;
    let minutes: u64 = parts.next()?.parse().ok().filter(|minutes| *minutes < 60)?;
    let seconds: f64 = parts.next().map_or(Some(0.0), |seconds| seconds.parse().ok())?;
    let is_one = (0.0..60.0).contains(&seconds) && parts.next().is_none();
    is_one.then(|| Span::from_secs(hours * 3600 + minutes * 60) + Span::from_secs_f64(seconds))
}

impl FromStr for Moment {
    type Err = BadMoment;

    fn from_str(text: &str) -> Result<Self, BadMoment> {
        let span = |text: &str| text.parse::<Span>().ok();
        let known = text.parse().ok().map(Self::At);
        let known = known.or_else(|| of_day(text).map(Self::OfDay));
        let known = known.or_else(|| span(text.strip_prefix('-')?).map(Self::BeforeEnd));
        let known = known.or_else(|| span(text.strip_prefix('+').unwrap_or(text)).map(Self::After));
        known.ok_or_else(|| BadMoment(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_several_ways() {
        let began: Timestamp = "2026-11-28T23:59:50Z".parse().unwrap();
        let length = Span::from_secs(60);
        for (text, seconds) in [
            ("30s", 30.0),
            ("+1.5s", 1.5),
            ("-10s", 50.0),
            ("-2m", 0.0),
            ("23:59:55.25", 5.25),
            ("23:59", 0.0),
            ("00:00:05", 15.0),
            ("2026-11-29T00:00:00.5Z", 10.5),
            ("2026-11-28T00:00:00Z", 0.0),
        ] {
            let moment: Moment = text.parse().unwrap();
            assert_eq!(moment.since(began, Span::ZERO, length).as_secs_f64(), seconds, "{text}");
        }
        // Ten minutes, six days after the watch began.
        let (first, last) = (Span::from_secs(6 * DAY + 600), Span::from_secs(6 * DAY + 1200));
        for (text, seconds) in [("00:10:00", 610), ("00:05", 310), ("00:15", 910), ("30s", 630)] {
            let moment: Moment = text.parse().unwrap();
            assert_eq!(moment.since(began, first, last), Span::from_secs(6 * DAY + seconds), "{text}");
        }
        for text in ["", "noon", "25:00", "12:60", "12:00:61", "12", "1:2:3:4", "-", "--3s"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
