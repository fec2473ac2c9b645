//! URLs: bytes that they must not contain, as %XX (RFC 3986, section 2.1), and which responses lead to another.

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, PercentEncode, percent_encode};

/// What stands nowhere in a reference to a URL (RFC 3986, appendix A); all beyond ASCII is not in it either.
const NOT_OF_A_REFERENCE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A target has no fragment.
const NOT_OF_A_TARGET: &AsciiSet = &NOT_OF_A_REFERENCE.add(b'#');

/// What does not stand for itself in every part of a URL (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A reference as servers write it into `Location`.
pub fn reference(text: &str) -> PercentEncode<'_> {
    percent_encode(text.as_bytes(), NOT_OF_A_REFERENCE)
}

/// Whether a response of this status sends its client elsewhere, where it says so in `Location` (RFC 9110, section 15.4).
pub const fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Path and query of a request.
pub(crate) fn target(bytes: &[u8]) -> PercentEncode<'_> {
    percent_encode(bytes, NOT_OF_A_TARGET)
}

/// A value that is all of a part of a URL, such as of a parameter.
pub(crate) fn value(text: &str) -> PercentEncode<'_> {
    percent_encode(text.as_bytes(), RESERVED)
}
