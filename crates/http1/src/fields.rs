//! Header lines read where their bytes are, without allocation.

use std::mem::MaybeUninit;

/// A header line: name and value, without white space around the value.
pub type Field<'b> = httparse::Header<'b>;

/// Room for the lines of a head, which its parser fills.
pub const fn room<'b, const LINES: usize>() -> [MaybeUninit<Field<'b>>; LINES] {
    [const { MaybeUninit::uninit() }; LINES]
}

/// Whether a field has that name, which is in lower case. Most names have another length.
#[inline]
pub fn is_called(field: &Field, name: &str) -> bool {
    field.name.len() == name.len() && field.name.eq_ignore_ascii_case(name)
}

/// The values of the lines called `name`, which is in lower case.
#[inline]
pub fn values<'n, 'h, 'b>(
    fields: &'h [Field<'b>],
    name: &'n str,
) -> impl Iterator<Item = &'b [u8]> + use<'n, 'h, 'b> {
    fields.iter().filter(move |field| is_called(field, name)).map(|field| field.value)
}

/// Whether a list (RFC 9110 section 5.6.1) has that element, in any case.
#[inline]
pub fn lists(line: &[u8], element: &str) -> bool {
    line.split(|byte| *byte == b',').any(|other| other.trim_ascii().eq_ignore_ascii_case(element.as_bytes()))
}

/// A number of digits only, which may stand between white space: a sign would be one to `parse`.
#[inline]
pub fn number(text: &[u8]) -> Option<u64> {
    let digits = text.trim_ascii();
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_are_a_number() {
        for (text, expected) in [
            ("0", Some(0)),
            (" 0042\t", Some(42)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("", None),
            ("+5", None),
            ("5 5", None),
            ("0x5", None),
        ] {
            assert_eq!(number(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn elements_of_a_list_are_whole_words() {
        assert!(lists(b"x, Close", "close") && lists(b"close", "close"));
        assert!(!lists(b"closed, x", "close") && !lists(b"", "close"));
    }
}
