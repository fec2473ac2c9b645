//! Cookies: one that is taken out is not found any more, and the others are found as before.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use http1::headers::cookie;

/// Tries a `Cookie` header of `data`.
///
/// # Panics
/// When a cookie stays that was taken out, or another one changes.
pub(crate) fn try_on(data: &[u8]) {
    const OURS: &[u8] = b"ours";
    let Ok(line) = HeaderValue::from_bytes(data) else { return };
    let mut headers = HeaderMap::from_iter([(COOKIE, line)]);
    let owned = |headers: &HeaderMap| {
        let cookies = cookie::all(headers).map(|(name, value)| (name.to_vec(), value.to_vec()));
        cookies.collect::<Vec<_>>()
    };
    let mut expected = owned(&headers);
    let first = expected.iter().find(|(name, _)| name == OURS).map(|(_, value)| value.clone());
    assert_eq!(cookie::find(&headers, OURS), first.as_deref());
    expected.retain(|(name, _)| name != OURS);
    cookie::remove(&mut headers, &[OURS]);
    assert_eq!(cookie::find(&headers, OURS), None, "a cookie that stays");
    assert_eq!(owned(&headers), expected);
}
