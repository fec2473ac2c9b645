//! Fields with blanks between them, some of them in quotes or brackets.

use crate::trace::logged::LastNumber;
use crate::trace::stamp::Stamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field<'a> {
    /// Between double quotes; escapes are left as they are.
    Quoted(&'a [u8]),
    /// Between brackets.
    Bracketed(&'a [u8]),
    Word(&'a [u8]),
}

/// The fields of a line.
pub(super) struct Fields<'a> {
    pub(super) list: Vec<Field<'a>>,
    /// Whether the quote or bracket of the last is not closed.
    pub(super) is_open: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn of(line: &'a [u8]) -> Self {
        let (mut list, mut is_open) = (Vec::with_capacity(16), false);
        let mut rest = line.trim_ascii_start();
        while let Some((&first, inside)) = rest.split_first() {
            let (field, after) = match first {
                b'"' => cut(inside, quote(inside), Field::Quoted, &mut is_open),
                b'[' => {
                    let end = inside.iter().position(|byte| *byte == b']');
                    cut(inside, end, Field::Bracketed, &mut is_open)
                }
                _ => {
                    let end = rest.iter().position(u8::is_ascii_whitespace);
                    cut(rest, end.or(Some(rest.len())), Field::Word, &mut is_open)
                }
            };
            list.push(field);
            rest = after.trim_ascii_start();
        }
        Self { list, is_open }
    }

    pub(super) fn word(&self, index: usize) -> Option<&'a [u8]> {
        match self.list.get(index)? {
            Field::Word(text) => Some(text),
            Field::Quoted(_) | Field::Bracketed(_) => None,
        }
    }
}

/// Cuts at `end`, which is not part of either side; without an end the field takes all.
fn cut<'a>(
    text: &'a [u8],
    end: Option<usize>,
    field: fn(&'a [u8]) -> Field<'a>,
    is_open: &mut bool,
) -> (Field<'a>, &'a [u8]) {
    *is_open = end.is_none();
    let end = end.unwrap_or(text.len());
    (field(text.get(..end).unwrap_or(text)), text.get(end + 1..).unwrap_or(&[]))
}

/// Where the closing quote is.
pub(super) fn quote(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    })
}

impl Field<'_> {
    pub(super) fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::Quoted(_) => None,
            Self::Bracketed(text) | Self::Word(text) => Stamp::of_log(text),
        }
    }

    pub(super) fn status(&self) -> Option<u16> {
        let Self::Word(text) = self else { return None };
        status(text)
    }

    pub(super) fn number(&self) -> Option<u64> {
        let Self::Word(text) = self else { return None };
        number(text)
    }

    /// Digits with a point among them or without, and a name before them or none, as in `rt=0.005`.
    pub(super) fn last_number(&self) -> Option<LastNumber> {
        let Self::Word(text) = self else { return None };
        let text = str::from_utf8(text).ok()?;
        let number = text.rsplit_once('=').map_or(text, |(_, number)| number);
        if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return None;
        }
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some(LastNumber { value: number.parse().ok()?, decimals })
    }
}

/// A status as HTTP has them. nginx writes 000 where there was none.
pub(super) fn status(text: &[u8]) -> Option<u16> {
    let status = number(text).filter(|_| text.len() == 3)?;
    u16::try_from(status).ok().filter(|status| *status >= 100)
}

pub(super) fn number(text: &[u8]) -> Option<u64> {
    str::from_utf8(text).ok()?.parse().ok()
}
