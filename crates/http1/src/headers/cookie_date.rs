//! The dates of cookies, which are read more kindly than any other (RFC 6265 section 5.1.1).

/// The seconds from 1970 to the date that `text` says; `None` where it says none.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(is_delimiter) {
        // What a token is, is the first of these that has not been found and that it can be.
        if time.is_none()
            && let Some(found) = time_in(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number_in(token, 1..=2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_in(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number_in(token, 2..=4)
        {
            year = Some(found);
        }
    }
    let (hour, minute, second) = time?;
    let year = match year? {
        year @ 70..=99 => year + 1900,
        year @ 0..=69 => year + 2000,
        year => year,
    };
    let (day, month) = (day?, month?);
    let exists = (1..=31).contains(&day) && year >= 1601 && hour <= 23 && minute <= 59 && second <= 59;
    exists.then(|| days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

fn is_delimiter(character: char) -> bool {
    matches!(character, '\t' | ' '..='/' | ';'..='@' | '['..='`' | '{'..='~')
}

/// The number that a token begins with, if it has as many digits as it may have and no digit follows.
fn number_in(token: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let length = token.bytes().take_while(u8::is_ascii_digit).count();
    token.get(..length).filter(|_| digits.contains(&length))?.parse().ok()
}

fn time_in(token: &str) -> Option<(i64, i64, i64)> {
    let mut parts = token.splitn(3, ':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    let whole =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| number_in(part, 1..=2))?;
    Some((whole(hour)?, whole(minute)?, number_in(second, 1..=2)?))
}

fn month_in(token: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let name = token.get(..3)?;
    (1..).zip(MONTHS).find(|(_, month)| name.eq_ignore_ascii_case(month)).map(|(number, _)| number)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that the day that some of
/// them lack is their last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let since_march = (month + 9) % 12;
    year * 365 + year / 4 - year / 100 + year / 400 + (since_march * 306 + 5) / 10 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_kind_are_read() {
        for (text, expected) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 1-Jan-1970 00:00:01 UTC", Some(1)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(253_402_300_799)),
            ("1 Mar 00 0:0:0", Some(951_868_800)),
            ("0", None),
            ("", None),
            ("-1", None),
            ("Thu, 32 Jan 1970 00:00:00 GMT", None),
            ("Thu, 01 Jan 1600 00:00:00 GMT", None),
            ("Thu, 01 Jan 1970 24:00:00 GMT", None),
            ("Thu, 01 Jan 1970", None),
        ] {
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }
}
