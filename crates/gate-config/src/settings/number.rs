//! Numbers and times that have a least value.

use std::time::Duration;

use config::{Error, Quantity, Source, Spanned};
use units::Span;

/// A time, with its place.
pub(super) type Time = Spanned<Quantity<Span>>;

pub(super) fn at_least_one(source: &Source, number: &Spanned<u32>, name: &str) -> Result<u32, Error> {
    match *number.get_ref() {
        0 => Err(source.error(number.span(), format!("{name} is 0")).mend("it must be at least 1")),
        number => Ok(number),
    }
}

pub(super) fn set(place: &mut Duration, span: Option<Span>) {
    if let Some(span) = span {
        *place = span.into();
    }
}

/// A time after which something is given up. At once would be before it has begun.
pub(super) fn set_above_zero(
    source: &Source,
    place: &mut Duration,
    given: &Option<Time>,
    name: &str,
) -> Result<(), Error> {
    set(place, above_zero(source, given, name)?);
    Ok(())
}

pub(super) fn above_zero(source: &Source, given: &Option<Time>, name: &str) -> Result<Option<Span>, Error> {
    match given.as_ref().map(|time| (time.span(), time.get_ref().0)) {
        Some((place, Span::ZERO)) => Err(source
            .error(place, format!("{name} is 0, so that everything would be given up at once"))
            .mend("give a time, for example \"2s\"")),
        given => Ok(given.map(|(_, time)| time)),
    }
}
