//! What stands behind the `?` of a request.

use percent_encoding::percent_decode_str;

/// Names and values, decoded; a name without a value has an empty one.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (&str, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let decoded = |value| percent_decode_str(value).decode_utf8_lossy().into_owned();
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(move |(name, value)| (name, decoded(value)))
}
