//! Headers of the PROXY protocol: what they say does not depend on how much has come besides.

use http1::proxy_protocol::{Header, parse};

/// Tries the parser on `data`.
///
/// # Panics
/// When it depends on what follows a header, or when part of a header is one.
pub(crate) fn try_on(data: &[u8]) {
    let Header::Whole { length, source } = parse(data) else { return };
    assert!(length > 0 && length <= data.len(), "a header of {length} bytes in {}", data.len());
    for end in 0..length {
        assert_eq!(parse(&data[..end]), Header::Incomplete, "{end} of {length} bytes");
    }
    assert_eq!(parse(&data[..length]), Header::Whole { length, source });
}
