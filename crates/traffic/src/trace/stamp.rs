//! Points in time as access logs write them.

use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::resolution::{Resolution, Written};

/// A point in time and how exactly it was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Nanoseconds since 1970, or since whatever a file of plain numbers counts from.
    pub(super) ns: u64,
    pub(super) resolution: Resolution,
    /// As in [`Written`].
    pub(super) digits: Option<u8>,
    /// Written as a date or with a fraction; a whole number may be something else.
    pub(super) certain: bool,
}

/// Years of the Web, in seconds since 1970: 1990 to 2100. A number outside is not a time.
const WEB: std::ops::Range<u64> = 631_152_000 * 1_000_000_000..4_102_444_800 * 1_000_000_000;

impl Stamp {
    /// Reads a date, or seconds since 1970 within the years of the Web.
    pub(super) fn of_log(text: &[u8]) -> Option<Self> {
        Self::date(text).or_else(|| Self::number(text).filter(Self::is_of_the_web))
    }

    /// Whether it is a point in time at which there were logs.
    pub(super) fn is_of_the_web(&self) -> bool {
        WEB.contains(&self.ns)
    }

    /// Reads a date, or a number of seconds since any point in time.
    pub(super) fn plain(text: &[u8]) -> Option<Self> {
        Self::date(text).or_else(|| Self::number(text))
    }

    /// Reads a date that may be in brackets, or seconds since 1970, from a field that is known to be a time.
    pub(super) fn of_field(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii();
        let inside = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
        Self::of_log(inside.unwrap_or(text))
    }

    fn date(text: &[u8]) -> Option<Self> {
        let timestamp = match text {
            // Go's log, and Caddy's with time_format wall.
            [_, _, _, b'0'..=b'9', b'/', _, _, b'/', _, _, b' ', ..] => iso8601(&with_dashes(text))?,
            [b'0'..=b'9', b'0'..=b'9', b'/', ..] => common(text)?,
            [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'-', ..] => iso8601(text)?,
            _ => return None,
        };
        let ns = u64::try_from(timestamp.as_nanosecond()).ok()?;
        let digits = digits_after_point(text);
        let is_common = text.get(2) == Some(&b'/');
        let loose = (!is_common).then_some(few(digits));
        Some(Self { ns, resolution: Resolution::of_digits(digits), digits: loose, certain: true })
    }

    /// Seconds with or without a fraction; without, by its length, milli-, micro- or
    /// nanoseconds (Apache's `%{msec}t` and `%{usec}t`).
    fn number(text: &[u8]) -> Option<Self> {
        let (whole, fraction) = match text.iter().position(|byte| *byte == b'.') {
            Some(point) => (text.get(..point)?, text.get(point + 1..)?),
            None => (text, &[][..]),
        };
        let certain = whole.len() < text.len();
        let value = decimal(whole)?;
        let (unit_ns, resolution, digits) = match whole.len() {
            0..=11 => (1_000_000_000, Resolution::of_digits(fraction.len()), Some(few(fraction.len()))),
            12..=14 => (1_000_000, Resolution::Millis, None),
            15..=17 => (1_000, Resolution::Micros, None),
            _ => (1, Resolution::Micros, None),
        };
        let fraction_ns = if certain { fraction_ns(fraction)? } else { 0 };
        let ns = value.checked_mul(unit_ns)?.checked_add(fraction_ns * unit_ns / 1_000_000_000)?;
        Some(Self { ns, resolution, digits, certain })
    }

    /// How exactly it is written.
    pub(super) fn written(self) -> Written {
        Written { resolution: self.resolution, digits: self.digits }
    }

    /// The better one of two on the same line: the finer, and rather a date than a number that
    /// may be something else.
    pub(super) fn better(self, other: Self) -> Self {
        let rank = |stamp: Self| (stamp.certain, stamp.resolution);
        if rank(other) > rank(self) { other } else { self }
    }
}

/// `10/Oct/2000:13:55:36.123 -0700`; without a zone it is UTC.
fn common(text: &[u8]) -> Option<Timestamp> {
    if let Ok(time) = BrokenDownTime::parse("%d/%b/%Y:%H:%M:%S%.f %z", text) {
        return time.to_timestamp().ok();
    }
    let time = BrokenDownTime::parse("%d/%b/%Y:%H:%M:%S%.f", text).ok()?;
    time.to_datetime().ok().and_then(utc)
}

/// `2000-10-10T13:55:36-07:00`; without a zone it is UTC.
fn iso8601(text: &[u8]) -> Option<Timestamp> {
    // A date without a time of day is not a point in time.
    let text = str::from_utf8(text).ok().filter(|text| text.len() >= "2000-10-10T13:55".len())?;
    text.parse().ok().or_else(|| text.parse().ok().and_then(utc))
}

fn with_dashes(date: &[u8]) -> Vec<u8> {
    date.iter().map(|byte| if *byte == b'/' { b'-' } else { *byte }).collect()
}

fn utc(time: DateTime) -> Option<Timestamp> {
    time.to_zoned(TimeZone::UTC).ok().as_ref().map(Zoned::timestamp)
}

fn few(digits: usize) -> u8 {
    u8::try_from(digits).unwrap_or(u8::MAX)
}

fn digits_after_point(text: &[u8]) -> usize {
    let fraction =
        text.iter().position(|byte| matches!(byte, b'.' | b',')).and_then(|point| text.get(point + 1..));
    fraction.map_or(0, |fraction| fraction.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// Billionths; what is finer is cut off.
fn fraction_ns(digits: &[u8]) -> Option<u64> {
    let kept = digits.get(..9).unwrap_or(digits);
    let tail = digits.get(9..).unwrap_or(&[]);
    let scale = 10_u64.pow(9 - u32::try_from(kept.len()).ok()?);
    tail.iter().all(u8::is_ascii_digit).then_some(decimal(kept)? * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn dates_and_numbers_are_read() {
        let same = 971_211_336 * SECOND;
        for (text, ns, resolution) in [
            ("10/Oct/2000:13:55:36 -0700", same, Resolution::Seconds),
            ("10/Oct/2000:20:55:36 +0000", same, Resolution::Seconds),
            ("10/Oct/2000:20:55:36", same, Resolution::Seconds),
            ("11/Oct/2000:02:25:36.120 +0530", same + 120_000_000, Resolution::Millis),
            ("10/Oct/2000:13:55:36.123456 -0700", same + 123_456_000, Resolution::Micros),
            ("2000-10-10T13:55:36-07:00", same, Resolution::Seconds),
            ("2000-10-10T20:55:36Z", same, Resolution::Seconds),
            ("2000-10-10T13:55:36.000-0700", same, Resolution::Millis),
            ("2000/10/10 20:55:36", same, Resolution::Seconds),
            ("2000-10-10T20:55:36", same, Resolution::Seconds),
            ("2000-10-10T20:55:36.5Z", same + 500_000_000, Resolution::Millis),
            ("2000-10-10 20:55:36.000001Z", same + 1_000, Resolution::Micros),
            ("971211336", same, Resolution::Seconds),
            ("971211336.123", same + 123_000_000, Resolution::Millis),
            ("971211336.1234567891", same + 123_456_789, Resolution::Micros),
            ("971211336123", same + 123_000_000, Resolution::Millis),
            ("971211336123456", same + 123_456_000, Resolution::Micros),
        ] {
            let stamp = Stamp::of_log(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((stamp.ns, stamp.resolution), (ns, resolution), "{text}");
        }
    }

    #[test]
    fn seconds_can_count_from_anywhere_in_plain_files_only() {
        assert_eq!(Stamp::plain(b"0.25").map(|stamp| stamp.ns), Some(SECOND / 4));
        assert_eq!(Stamp::plain(b"17").map(|stamp| stamp.ns), Some(17 * SECOND));
        assert_eq!(Stamp::of_log(b"0.25"), None);
        assert_eq!(Stamp::of_log(b"17"), None);
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            ".",
            "-",
            "1.",
            "1.x",
            ".5",
            "-1",
            "+1",
            "1e3",
            "1.2.3.4",
            "99/Oct/2000:13:55:36 -0700",
            "10/Okt/2000:13:55:36 -0700",
            "10/Oct/2000",
            "10/Oct/1960:00:00:00 +0000",
            "2000-13-01T00:00:00Z",
            "2000-10-10",
            "99999999999999999999999",
            "99999999999",
        ] {
            assert_eq!(Stamp::plain(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Stamp::plain(b"10/Oct/2000:\xff"), None);
    }

    #[test]
    fn the_finer_and_the_more_certain_is_better() {
        let stamp = |text: &str| Stamp::of_log(text.as_bytes()).unwrap();
        let (date, fine, bare) =
            (stamp("10/Oct/2000:13:55:36 -0700"), stamp("971211336.123"), stamp("971211336123"));
        assert_eq!(date.better(fine), fine);
        assert_eq!(fine.better(date), fine);
        assert_eq!(bare.better(date), date);
    }
}
